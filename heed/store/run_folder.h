// The folder of a run: what was asked for, where it ran, how it went.
//
//   config.json     the settings, resolved; a run goes on only with the same ones
//   run.json        version, machine, seeds, data: the caller's; one more entry in "resumed" per reopening
//   metrics.jsonl   one JSON object per line, in the order of time
//   checkpoints/    store/checkpoint.h
//   lock            the process that has the folder open
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/fields.h"

namespace heed::store {

class RunFolder {
 public:
  // Makes the folder, or opens it again. An Error if another process has it open (it is named), if it was
  // made with other settings (the first that differs is named), or if it holds files of something else.
  RunFolder(const std::filesystem::path& path, const Json& config, const Json& record);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const;
  bool reopened() const { return reopened_; }
  // Empties a folder that this object began: for a start that failed before its first step, so that the next
  // try may have other settings. One that was a run before stays as it is.
  void take_back();
  // What run.json holds: the record of the first start, and those of later ones in "resumed".
  const Json& record() const { return record_; }

  // Adds a line that other processes can read at once. On a full disk no part of it stays.
  void append_metrics(const Json& line);
  // Forgets what was logged after the checkpoint a run goes on from: everything from the first line on whose
  // "step" is larger.
  void cut_metrics_after(int64_t step);
  // Makes the lines last even if the machine fails; before a checkpoint that counts on them.
  void sync_metrics();

 private:
  void lock();
  void open_config(const Json& config);
  void open_metrics();

  std::filesystem::path path_;
  Json record_;
  bool reopened_ = false;
  int lock_ = -1, metrics_ = -1;
};

// The lines of a metrics.jsonl; a last line that is not complete is left out.
std::vector<Json> read_metrics(const std::filesystem::path& file);

}  // namespace heed::store
