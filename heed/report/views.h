// The kinds of runs that can be shown. One file each, one list.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/registry.h"
#include "heed/store/run_folder.h"

namespace heed::report {

// What a view reports about a run; document.ts has the fields. "state" is one of them.
struct RunView {
  Json json = Json::object();
  std::vector<std::string> problems;

  // Runs `body`; an exception becomes a problem.
  template <class Body>
  void try_to(const Body& body) {
    try {
      body();
    } catch (const std::exception& error) {
      problems.push_back(error.what());
    }
  }
};

// Reads a run, repeatedly while it is running; it keeps long files so as not to read them twice.
using Reading = std::function<RunView(const std::filesystem::path& run)>;

struct View {
  std::string name;                     // the document's "kind"
  std::optional<store::RunKind> shows;  // none: the profile of a device, which is a file
  Reading (*begin)();
};

View device_view();
View ranking_view();
View search_view();
View supernet_view();
View training_view();
View worth_view();

const Registry<View>& views();

// "running" while a process works in the folder, otherwise "done" or "stopped".
std::string state_of(const std::filesystem::path& run, bool done);

// Models that have a folder in the run, trained or in training.
int64_t models_begun(const std::filesystem::path& run);

// The folder's ranking.json. Throws if a proxy does not score every model.
Json read_ranking(const std::filesystem::path& run);

// About `most` of `count` indices at most, evenly spread, including the first and the last.
std::vector<size_t> thinned(size_t count, size_t most);

// Indices into long lists of equal length that give curves of about `most` points at most: the smallest and
// the largest value of each list in every interval, the first and the last. All indices if they are few.
std::vector<size_t> outline(size_t count, size_t most,
                            const std::vector<std::function<double(size_t place)>>& lists);

}  // namespace heed::report
