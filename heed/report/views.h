// The kinds of runs that can be shown. One file each, one list.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/registry.h"

namespace heed::report {

// What a view says of a run; document.ts has the fields. "state" is part of it.
struct RunView {
  Json json = Json::object();
  std::vector<std::string> problems;

  // Runs `body`; what it throws becomes a problem.
  template <class Body>
  void try_to(const Body& body) {
    try {
      body();
    } catch (const std::exception& error) {
      problems.push_back(error.what());
    }
  }
};

struct View {
  std::string name;  // the document's "kind"
  bool (*is_in)(const std::filesystem::path& run);
  RunView (*read)(const std::filesystem::path& run);
};

View device_view();
View ranking_view();
View search_view();
View supernet_view();
View training_view();

const Registry<View>& views();

// "going on" while a process works in the folder, otherwise "done" or "stopped".
std::string state_of(const std::filesystem::path& run, bool done);

// At most about `most` of so many places, evenly spread, the first and the last among them.
std::vector<size_t> thinned(size_t count, size_t most);

}  // namespace heed::report
