// The folder of a run: what was asked for, where it ran, how it went.
//
//   config.json     the settings, resolved; a run goes on only with the same ones
//   run.json        version, machine, seeds, data: the caller's; one more entry in "resumed" per reopening
//   metrics.jsonl   one JSON object per line, in the order of time
//   checkpoints/    store/checkpoint.h
//   lock            the process that has the folder open
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "heed/store/line_log.h"

namespace heed::store {

class RunFolder {
 public:
  // Makes the folder, or opens it again. An Error if another process has it open (it is named), if it was
  // made with other settings (the first that differs is named), or if it holds files of something else.
  // `today` turns the settings of an earlier version into those of this one, so that what is new has its
  // default there.
  RunFolder(const std::filesystem::path& path, const Json& config, const Json& record,
            const std::function<Json(const Json& before)>& today = {});
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const;
  bool reopened() const { return reopened_; }
  // An Error if somebody has moved or removed the folder. To be called before anything is saved, which would
  // begin a folder of the same name with nothing else in it.
  void check_in_place() const;
  // Empties a folder that this object began: for a start that failed before its first step, so that the next
  // try may have other settings. One that was a run before stays as it is.
  void take_back();
  // What run.json holds: the record of the first start, and those of later ones in "resumed".
  const Json& record() const { return record_; }

  // metrics.jsonl.
  LineLog& metrics() { return *metrics_; }

 private:
  void lock();
  void open_config(const Json& config, const std::function<Json(const Json& before)>& today);

  std::filesystem::path path_;
  Json record_;
  bool reopened_ = false;
  int lock_ = -1;
  std::optional<LineLog> metrics_;
};

// Whether a process works in the folder now. Asking takes no lock, so that nobody is kept from beginning.
bool is_in_use(const std::filesystem::path& folder);

}  // namespace heed::store
