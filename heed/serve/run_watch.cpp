#include "heed/serve/run_watch.h"

#include <algorithm>
#include <chrono>

#include "heed/base/clock.h"
#include "heed/store/run_folder.h"

namespace heed::serve {
namespace {

namespace fs = std::filesystem;

constexpr double kEvery = 0.5;  // seconds
// Reading takes at most about this share of the time.
constexpr double kShare = 0.1;

// Changes when a file that a view may read does.
std::string signature_of(const fs::path& run) {
  std::string signature = store::is_in_use(run) ? "used" : "";
  const auto add = [&](const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    const auto time = fs::last_write_time(file, error);
    signature += text(" ", file.filename().string(), error ? 0 : size, ".", time.time_since_epoch().count());
  };
  std::error_code error;
  if (!fs::is_directory(run, error)) {
    add(run);
    add(run.string() + "-wal");
    return signature;
  }
  for (fs::recursive_directory_iterator at(run, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == "checkpoints" || name == "cache" || name == "model") at.disable_recursion_pending();
    if (at->is_regular_file(error)) add(at->path());
  }
  return signature;
}

int64_t milliseconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}
const std::shared_ptr<const std::string> kComma = shared(","), kBrace = shared("}"), kEnd = shared("]}");

// Whatever bytes a run's texts have.
std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

RunWatch::RunWatch(std::vector<fs::path> runs, std::string version)
    : runs_(runs.begin(), runs.end()),
      paths_(std::move(runs)),
      version_(std::move(version)),
      signatures_(paths_.size()),
      read_(paths_.size()),
      now_(paths_.size()),
      first_(milliseconds_since_1970()),
      last_(first_ - 1) {
  read_again();
  thread_ = std::thread([this] { watch(); });
}

RunWatch::~RunWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    stop_.notify_all();
  }
  thread_.join();
}

SharedText RunWatch::document() const {
  const std::lock_guard lock(mutex_);
  SharedText document = {head_};
  for (const Run& run : now_) {
    if (document.size() > 1) document.push_back(kComma);
    document.push_back(run.run);
  }
  document.push_back(kEnd);
  return document;
}

std::optional<SharedText> RunWatch::changes_after(int64_t number) const {
  const std::lock_guard lock(mutex_);
  if (number < first_ || number > last_) return {};
  SharedText changes = {shared(text("{\"change\":", last_, ",\"runs\":["))};
  for (const Run& run : now_) {
    if (run.change <= number) continue;
    if (changes.size() > 1) changes.push_back(kComma);
    changes.insert(changes.end(), {run.head, run.run, kBrace});
  }
  changes.push_back(kEnd);
  return changes;
}

// Only this thread, and the constructor before it, touch runs_, signatures_ and read_, and change what
// readers see.
void RunWatch::read_again() {
  bool any = false;
  for (size_t i = 0; i < paths_.size(); ++i) {
    std::string signature = signature_of(paths_[i]);
    if (!read_[i].is_null() && signature == signatures_[i]) continue;
    signatures_[i] = std::move(signature);
    read_[i] = runs_[i].read();
    any = true;
  }
  if (!any) return;
  // At most once in kEvery, so numbers grow more slowly than the milliseconds that an earlier watch began
  // with.
  const int64_t change = last_ + 1;
  Json document = report::document(read_, version_);
  std::vector<Run> now = now_;
  for (size_t i = 0; i < now.size(); ++i) {
    std::string run = json_text(document["runs"][i]);
    if (now[i].run && run == *now[i].run) continue;
    now[i] = {change, shared(text("{\"place\":", i, ",\"made\":", document["made"], ",\"run\":")),
              shared(std::move(run))};
  }
  document.erase("runs");
  document["change"] = change;
  std::string head = json_text(document);
  head.back() = ',';  // instead of the brace
  head += "\"runs\":[";
  const std::lock_guard lock(mutex_);
  head_ = shared(std::move(head));
  now_ = std::move(now);
  last_ = change;
}

void RunWatch::watch() {
  double pause = kEvery;
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, std::chrono::duration<double>(pause), [&] { return stopped_; })) {
    lock.unlock();
    const double begin = now_seconds();
    try {
      read_again();
    } catch (const std::exception&) {  // the folder was removed while it was read; the next check reports it
    }
    pause = std::max(kEvery, (now_seconds() - begin) / kShare);
    lock.lock();
  }
}

}  // namespace heed::serve
