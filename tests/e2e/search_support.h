// What the tests of `heed search` share.
#pragma once

#include <map>
#include <string>

#include "heed/store/database.h"
#include "tests/e2e/support.h"

namespace heed::test {

class Searching : public Verbs {
 protected:
  std::string space() const {
    return Verbs::space({{"genes.layers", "{from = 1, to = 3}"},
                         {"genes.heads", "[2, 4]"},
                         {"genes.inner", "{from = 16, to = 64, step = 16}"}});
  }
  std::string command(const std::string& out, const std::string& flags = "") const {
    return "search " + space() + " --profile " + profile() + " --threads 1 -o " + path(out) + " " + flags;
  }
};

// Everything that a search has on disk.
inline std::map<std::string, double> rows_of(const std::string& database) {
  std::map<std::string, double> rows;
  const store::Database opened(database);
  for (const char* sql : {"SELECT key, score + latency FROM evaluations",
                          "SELECT key || ' round ' || round, median FROM measurements"}) {
    store::Statement statement(opened, sql);
    while (statement.step()) rows[statement.text(0)] = statement.real(1);
  }
  return rows;
}

}  // namespace heed::test
