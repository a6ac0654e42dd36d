// The kinds of runs that can be shown. One file each, one list.
#pragma once

#include <filesystem>
#include <functional>
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

// Reads a run, again and again while it goes on; what it keeps of long files it need not read twice.
using Reading = std::function<RunView(const std::filesystem::path& run)>;

struct View {
  std::string name;  // the document's "kind"
  bool (*is_in)(const std::filesystem::path& run);
  Reading (*begin)();
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

// Places in long lists of equal length through which curves of at most about `most` points can be drawn: the
// smallest and the largest value of each list in every stretch, the first and the last place. All of them if
// they are few.
std::vector<size_t> outline(size_t count, size_t most,
                            const std::vector<std::function<double(size_t place)>>& lists);

}  // namespace heed::report
