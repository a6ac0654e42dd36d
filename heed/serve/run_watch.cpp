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

}  // namespace

RunWatch::RunWatch(std::vector<fs::path> runs, std::string version)
    : runs_(runs.begin(), runs.end()),
      paths_(std::move(runs)),
      version_(std::move(version)),
      signatures_(paths_.size()),
      read_(paths_.size()),
      changes_(paths_.size()) {
  read_again();
  thread_ = std::thread([this] { watch(); });
}

RunWatch::~RunWatch() {
  stop();
  thread_.join();
}

void RunWatch::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  news_.notify_all();
}

std::shared_ptr<const std::string> RunWatch::document() const {
  const std::lock_guard lock(mutex_);
  if (!text_)
    text_ =
        std::make_shared<const std::string>(document_.dump(-1, ' ', false, Json::error_handler_t::replace));
  return text_;
}

std::vector<RunWatch::Change> RunWatch::changes_after(int64_t number, double seconds) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return stopped_ || last_ > number; });
  std::vector<Change> some;
  for (const Change& change : changes_) {
    if (change.number > number) some.push_back(change);
  }
  std::ranges::sort(some, {}, &Change::number);
  return some;
}

// Only this thread, and the constructor before it, touch runs_, signatures_ and read_.
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
  Json now = report::document(read_, version_);
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (!document_.is_null() && document_["runs"][i] == now["runs"][i]) continue;
    changes_[i] = {++last_, i, now["made"],
                   std::make_shared<const std::string>(
                       now["runs"][i].dump(-1, ' ', false, Json::error_handler_t::replace))};
  }
  document_ = std::move(now);
  document_["change"] = last_;
  text_.reset();
  news_.notify_all();
}

void RunWatch::watch() {
  double pause = kEvery;
  std::unique_lock lock(mutex_);
  while (!news_.wait_for(lock, std::chrono::duration<double>(pause), [&] { return stopped_; })) {
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
