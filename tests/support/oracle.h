// Ops against PyTorch in double (tests/oracle): collect cases, ask for all answers at once (importing torch
// takes seconds), compare values and gradients.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "tests/support/oracle_inputs.h"

namespace heed::test {

struct OracleCase {
  std::string name;
  std::string op;
  Json settings = Json::object();
  std::vector<OracleInput> inputs = {};
  // Length of the longest sum in values and gradients; the tolerance follows from it (rounding.h).
  int64_t length = 1;
  // Outputs that get an incoming gradient; with none the op is not differentiated.
  std::vector<size_t> seeded = {0};
  // How much the formula itself magnifies rounding errors of its input, where that is more than a few: say
  // why.
  double conditioning = 1;
  // Errors count relative to the largest number of a tensor, but to this at least: the size of the terms
  // whose sum may be nearly 0.
  double floor = 1;
};

class OracleCases {
 public:
  OracleCases();
  ~OracleCases();
  OracleCases(const OracleCases&) = delete;
  OracleCases& operator=(const OracleCases&) = delete;

  // `family` groups cases into one test. An op that refuses its case is reported by check().
  void add(const std::string& family, OracleCase given);

  // Asks PyTorch once for all cases; afterwards missing() says why there are no answers, if so.
  void run();
  const std::string& missing() const { return missing_; }

  // Compares every case of the family: forward only, differentiated, in place, each input alone, two uses of
  // the same inputs; on every instruction set of this CPU, with 1 and with 2 threads, which must agree to the
  // last bit.
  void check(const std::string& family);

  // Op kinds in the graphs of the cases, differentiated where that is asked for. Needs no answers.
  std::set<std::string> reached() const;

 private:
  struct Entry;

  std::vector<std::unique_ptr<Entry>> entries_;
  std::string missing_ = "OracleCases::run was not called";
};

}  // namespace heed::test
