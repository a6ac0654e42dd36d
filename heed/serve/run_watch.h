// Runs on disk, read again when their files change.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heed/report/document.h"

namespace heed::serve {

// A text in parts, one after the other. All who ask get the same parts, not copies of them.
using SharedText = std::vector<std::shared_ptr<const std::string>>;

class RunWatch {
 public:
  RunWatch(std::vector<std::filesystem::path> runs, std::string version);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // All runs now (report/document.h), with the number of the last change under "change", in JSON.
  SharedText document() const;

  // {"change": number of the last one, "runs": [{"place": its index in the document, "made": UTC, "run":
  // ..}]}: the runs that changed after that number, in JSON. None if the number is not of this watch: what
  // its asker knows is of an earlier one.
  std::optional<SharedText> changes_after(int64_t number) const;

 private:
  void read_again();
  void watch();

  std::vector<report::RunReader> runs_;
  std::vector<std::filesystem::path> paths_;
  const std::string version_;
  std::vector<std::string> signatures_;
  std::vector<Json> read_;

  struct Run {
    int64_t change = 0;                            // the number of its latest
    std::shared_ptr<const std::string> head, run;  // {"place": .., "made": .., "run": and the run, in JSON
  };
  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable stop_;
  std::shared_ptr<const std::string> head_;  // of the document, up to its runs
  std::vector<Run> now_;
  int64_t first_, last_;  // changes; numbers begin above those of an earlier watch
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace heed::serve
