#include "heed/store/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "heed/base/system_error.h"
#include "heed/store/json_file.h"
#include "heed/store/unfinished.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "config.json";
constexpr const char* kRecordFile = "run.json";
constexpr const char* kMetricsFile = "metrics.jsonl";
constexpr const char* kLockFile = "lock";
constexpr const char* kCheckpoints = "checkpoints";
constexpr const char* kResumed = "resumed";
constexpr const char* kKind = "kind";

// The first setting that differs, "model.width: 512 there, 256 now"; "" if none does.
std::string first_difference(const Json& there, const Json& now, const std::string& place) {
  if (there.is_object() && now.is_object()) {
    Json keys = there;
    keys.update(now);
    for (const auto& [key, value] : keys.items()) {
      const std::string inner = place.empty() ? key : place + "." + key;
      if (!there.contains(key)) return text("'", inner, "' was not set and is ", now[key].dump(), " now");
      if (!now.contains(key)) return text("'", inner, "' was ", there[key].dump(), " and is not set now");
      const std::string found = first_difference(there[key], now[key], inner);
      if (!found.empty()) return found;
    }
    return "";
  }
  if (there == now) return "";
  return text("'", place, "' was ", there.dump(), " and is ", now.dump(), " now");
}

// "training.steps" in JSON.
Json::json_pointer pointer_to(std::string setting) {
  std::ranges::replace(setting, '.', '/');
  return Json::json_pointer("/" + setting);
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// A start that was killed leaves a lock, a record, tokens and temporary files at most.
bool holds_something_else(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path name = entry.path().filename();
    if (name != kLockFile && name != kRecordFile && name != kTokensFolder && !is_unfinished_name(name))
      return true;
  }
  return false;
}

// Before anything is written there. Another process may be creating its run: hence the second look for its
// settings.
void refuse_other_files(const fs::path& folder) {
  const fs::path config = folder / kConfigFile;
  if (!fs::exists(config) && holds_something_else(folder) && !fs::exists(config))
    throw usage_error(folder.string(), ": holds files but no ", kConfigFile,
                      "; use a new or an empty folder");
}

// Removes what killed processes of this run have left half written. Only the owner of the lock may do so;
// checkpoints have their own rule.
void remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const bool leftover = is_unfinished_name(entry->path());
    if (leftover) leftovers.push_back(entry->path());
    if (leftover || entry->path() == folder / kCheckpoints) entry.disable_recursion_pending();
  }
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover, error);
}

}  // namespace

std::optional<RunKind> run_kind(const fs::path& folder) {
  const auto value = [&](const char* file, const char* name) {
    std::error_code error;
    if (!fs::is_regular_file(folder / file, error)) return Json();
    try {
      return read_json_object(folder / file).value(name, Json());
    } catch (const Error&) {  // readers of the run report what is wrong with it
      return Json();
    }
  };
  const bool begun = fs::exists(folder / kConfigFile);  // otherwise a start was killed
  if (const Json stated = begun ? value(kRecordFile, kKind) : Json(); stated.is_string()) {
    for (const auto& [kind, name] : EnumNames<RunKind>::names) {
      if (stated == name) return kind;
    }
    throw usage_error((folder / kRecordFile).string(), ": says that this is a run of the kind ",
                      stated.dump(), ", which this version does not know; use a newer one");
  }
  if (fs::exists(folder / "heed.db")) return RunKind::kSearch;
  if (value(kConfigFile, "strategy") == "supernet") return RunKind::kSupernet;
  if (fs::exists(folder / "settings.json")) return RunKind::kSupernet;  // no other kind has it
  if (fs::exists(folder / "ranking.json") || !value(kConfigFile, "ranking").is_null()) return RunKind::kRank;
  if (begun) return RunKind::kTrain;
  return std::nullopt;
}

void check_run_kind(const fs::path& folder, RunKind asked) {
  if (fs::is_directory(folder)) refuse_other_files(folder);
  const std::optional<RunKind> found = run_kind(folder);
  if (!found || *found == asked) return;
  throw usage_error("`heed ", enum_name(asked), "` was asked for, but ", folder.string(),
                    " was made by `heed ", enum_name(*found),
                    "`; give another folder, or continue with `heed ", enum_name(*found), "`");
}

RunFolder::RunFolder(const fs::path& path, RunKind kind, const Json& config, const Json& record,
                     const Reopening& reopening)
    : path_(path), record_(record) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw path_error(path_.string() + ": the folder cannot be created", error.value());
  refuse_other_files(path_);
  try {
    lock();
    open_config(kind, config, reopening);
    metrics_.emplace(path_ / kMetricsFile);
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

void RunFolder::check_in_place() const {
  struct stat held = {}, named = {};
  if (::fstat(lock_, &held) == 0 && ::stat((path_ / kLockFile).c_str(), &named) == 0 &&
      held.st_ino == named.st_ino && held.st_dev == named.st_dev)
    return;
  throw system_error(
      path_.string(),
      ": was moved or removed while this process worked in it; put it back and run the same command "
      "again, or start again in another folder");
}

fs::path RunFolder::checkpoints() const { return path_ / kCheckpoints; }

RunFolder::~RunFolder() { ::close(lock_); }

// The file stays when the run ends; only the lock counts. Removing it would let two processes lock two files
// of the same name.
void RunFolder::lock() {
  const fs::path file = path_ / kLockFile;
  lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) throw system_error(file.string(), ": cannot be opened: ", system_reason(errno));
  char owner[32] = {};
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_error(file.string(), ": cannot be locked: ", system_reason(errno));
    const bool known = ::pread(lock_, owner, sizeof owner - 1, 0) > 0;
    owner[std::strcspn(owner, "\n")] = 0;
    throw system_error(path_.string(), ": process ", known ? owner : "(not known)",
                       " is using this folder; wait for it to end, or use another folder");
  }
  const std::string content = text(::getpid(), "\n");
  if (::ftruncate(lock_, 0) != 0 ||
      ::pwrite(lock_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
    throw system_error(file.string(), ": cannot be written: ", system_reason(errno));
}

void RunFolder::open_config(RunKind kind, const Json& config, const Reopening& reopening) {
  const fs::path config_file = path_ / kConfigFile, record_file = path_ / kRecordFile;
  if (!fs::exists(config_file)) {
    record_[kKind] = enum_name(kind);
    // config.json last: with it the folder counts as a run.
    write_json_object(record_file, record_);
    write_json_object(config_file, config);
    return;
  }
  reopened_ = true;
  check_run_kind(path_, kind);
  Json before = read_json_object(config_file);
  if (reopening.upgrade) before = reopening.upgrade(before);
  for (const std::string& setting : reopening.may_change) {
    const Json::json_pointer place = pointer_to(setting);
    if (before.at(place) == config.at(place)) continue;
    changed_.push_back({setting, before.at(place), config.at(place)});
    before.at(place) = config.at(place);
  }
  const std::string difference = first_difference(before, config, "");
  if (!difference.empty())
    throw usage_error(path_.string(), ": was started with other settings: ", difference,
                      "; use another folder, or the same settings to resume",
                      reopening.may_change.empty() ? "" : ". May change: ", joined(reopening.may_change));
  remove_leftovers(path_);
  if (!changed_.empty()) changed_config_ = config;
  Json first = read_json_object(record_file);
  if (first.contains(kResumed) && !first[kResumed].is_array())
    throw damaged_error(record_file.string(), ": '", kResumed, "' is not a list; is it damaged?");
  first[kKind] = enum_name(kind);  // earlier versions did not write it
  first[kResumed].push_back(record_);
  record_ = std::move(first);
  write_json_object(record_file, record_);
}

void RunFolder::begin(const std::function<void()>& body, const std::function<bool()>& has_results) {
  try {
    body();
    if (!changed_.empty()) write_json_object(path_ / kConfigFile, changed_config_);
  } catch (const Error& error) {
    const bool wanted = error.kind() == ErrorKind::kInterrupted || (has_results && has_results());
    if (!wanted) discard_if_new();
    throw;
  }
}

void RunFolder::discard_if_new() {
  if (reopened_) return;
  std::error_code error;
  std::vector<fs::path> made;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (name != kLockFile && name != kRecordFile && name != kConfigFile) made.push_back(entry->path());
  }
  // config.json after the rest: files without it are not a run. If this is interrupted, the folder is still a
  // run that the same command resumes.
  for (const fs::path& path : made) {
    if (!error) fs::remove_all(path, error);
  }
  for (const char* name : {kConfigFile, kRecordFile}) {
    if (!error) fs::remove(path_ / name, error);
  }
}

bool is_in_use(const fs::path& folder) {
  const fs::path lock = folder / kLockFile;
  struct stat file = {};
  if (::stat(lock.c_str(), &file) != 0) return false;
  std::string owner;
  std::ifstream(lock) >> owner;
  // "1: FLOCK  ADVISORY  WRITE 708 fe:01:12345 0 EOF": the process and the inode. Some file systems report
  // other device numbers, so the process must also be the one named in the lock file.
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, process, place;
    words >> number >> kind >> advisory >> access >> process >> place;
    if (kind == "FLOCK" && process == owner && place.ends_with(text(":", file.st_ino))) return true;
  }
  return false;
}

}  // namespace heed::store
