// Several runs as one JSON document, as web/src/document.ts describes it.
#pragma once

#include <filesystem>
#include <vector>

#include "heed/report/views.h"

namespace heed::report {

// Throws if there is no run. One that is damaged is a run.
void require_run(const std::filesystem::path& run);

// A run with its kind, name, path, state and problems. Whatever is wrong is listed in its problems.
Json read_run(const std::filesystem::path& run);

// Reads a run repeatedly; long files are read from where the last reading ended.
class RunReader {
 public:
  explicit RunReader(std::filesystem::path run) : run_(std::move(run)) {}
  Json read();

 private:
  std::filesystem::path run_;
  const View* view_ = nullptr;
  Reading reading_;
};

// Runs that were read, each under a unique name. Models of searches are matched to the runs that trained
// them, blocks that `heed worth` has valued to their times in a device's profile.
Json document(std::vector<Json> runs, const std::string& version);

}  // namespace heed::report
