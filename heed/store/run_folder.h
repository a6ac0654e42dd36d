// The folder of a run: its settings, machine and results.
//
//   config.json     the settings, resolved; a run resumes only with the same ones
//   run.json        the kind of the run; version, machine, seeds, data: the caller's; one more entry in
//                   "resumed" per reopening
//   metrics.jsonl   one JSON object per line, in order of time
//   checkpoints/    store/checkpoint.h
//   cache/          tokens of the text, which may be there before the run is begun
//   lock            the process that has the folder open
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/store/line_log.h"

namespace heed::store {

// The kind of a run: the verb that made its folder.
enum class RunKind { kTrain, kSearch, kSupernet, kRank, kWorth };

}  // namespace heed::store

namespace heed {
template <>
struct EnumNames<store::RunKind> {
  static constexpr std::pair<store::RunKind, const char*> names[] = {{store::RunKind::kTrain, "train"},
                                                                     {store::RunKind::kSearch, "search"},
                                                                     {store::RunKind::kSupernet, "supernet"},
                                                                     {store::RunKind::kRank, "rank"},
                                                                     {store::RunKind::kWorth, "worth"}};
};
}  // namespace heed

namespace heed::store {

inline constexpr const char* kTokensFolder = "cache";

// The kind of the run in a folder; nothing if there is none. For folders of earlier versions, which do not
// say it, the files tell. Throws if run.json says a kind that this version does not know.
std::optional<RunKind> run_kind(const std::filesystem::path& folder);
// Throws if the folder holds a run of another kind, or other files.
void check_run_kind(const std::filesystem::path& folder, RunKind asked);

// With which settings a run may be opened again.
struct Reopening {
  // Converts the settings of an earlier version to those of this one, so that new settings have their
  // default.
  std::function<Json(const Json& before)> upgrade = {};
  // Settings that may change, such as "training.steps", or all of a part: "evaluation".
  std::vector<std::string> may_change = {};
};

// A setting that is another one than when the run was last opened.
struct ChangedSetting {
  std::string name;  // "training.steps"
  Json before, now;
};

class RunFolder {
 public:
  // Creates the folder, or opens it again. Throws if another process has it open (it is named), if it is of
  // another kind, if it was started with other settings (the first that differs is named), or if it holds
  // other files. Settings that have changed are written into config.json by `begin`.
  RunFolder(const std::filesystem::path& path, RunKind kind, const Json& config, const Json& record,
            const Reopening& reopening = {});
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const;
  bool reopened() const { return reopened_; }
  const std::vector<ChangedSetting>& changed() const { return changed_; }
  // Throws if the folder was moved or removed. Call it before saving anything, which would create a folder of
  // the same name with nothing else in it.
  void check_in_place() const;
  // Runs the part of a start that may still throw. If it does, a folder that this object created is emptied,
  // so that the next attempt may have other settings; one that was a run before, or already has results,
  // stays as it is.
  void begin(const std::function<void()>& body, const std::function<bool()>& has_results = {});
  // The content of run.json: the record of the first start, and those of later ones in "resumed".
  const Json& record() const { return record_; }

  // metrics.jsonl.
  LineLog& metrics() { return *metrics_; }

 private:
  void discard_if_new();
  void lock();
  void open_config(RunKind kind, const Json& config, const Reopening& reopening);

  std::filesystem::path path_;
  Json record_;
  bool reopened_ = false;
  std::vector<ChangedSetting> changed_;
  Json changed_config_;  // written once the start has succeeded
  int lock_ = -1;
  std::optional<LineLog> metrics_;
};

// Whether a process is using the folder. Takes no lock, so that it never keeps a run from starting.
bool is_in_use(const std::filesystem::path& folder);

}  // namespace heed::store
