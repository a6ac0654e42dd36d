// Runs on disk, read again when their files change. Readers on other threads wait for changes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "heed/report/document.h"

namespace heed::serve {

class RunWatch {
 public:
  RunWatch(std::vector<std::filesystem::path> runs, std::string version);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // All runs, as report::document has them, in JSON, with the number of the last "change". Made once for
  // all requests before the next change.
  std::shared_ptr<const std::string> document() const;

  // The new state of one run: its index in the document, and a counter over all changes.
  struct Change {
    int64_t number = 0;
    size_t place = 0;
    std::string made;                        // UTC
    std::shared_ptr<const std::string> run;  // JSON
  };
  // The latest change of each run after that number, oldest first; waits up to `seconds` for one.
  std::vector<Change> changes_after(int64_t number, double seconds) const;
  void stop();  // wakes all waiting readers

 private:
  void read_again();
  void watch();

  std::vector<report::RunReader> runs_;
  std::vector<std::filesystem::path> paths_;
  std::string version_;
  std::vector<std::string> signatures_;
  std::vector<Json> read_;
  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  Json document_;
  mutable std::shared_ptr<const std::string> text_;  // of the document, made on the first request
  std::vector<Change> changes_;                      // by index
  int64_t last_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace heed::serve
