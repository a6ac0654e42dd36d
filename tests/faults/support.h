// What tests of faults share: work that takes a second and can be broken off anywhere, whether it ended as
// without the fault, whether what is on disk is whole, and a disk of any size.
#pragma once

#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "heed/base/csv.h"
#include "heed/store/database.h"
#include "heed/store/line_log.h"
#include "heed/store/safetensors.h"
#include "heed/store/unfinished.h"
#include "tests/e2e/support.h"

namespace heed::test {

// How often chance is tried; soak runs ask for more (scripts/faults).
inline int rounds(int usual) {
  const char* factor = std::getenv("HEED_FAULT_ROUNDS");
  return factor ? usual * std::max(1, std::atoi(factor)) : usual;
}

// Something that cannot be had here: said loudly, and a failure where it must not be missing.
#define HEED_NEEDS(condition, what)                             \
  do {                                                          \
    if (!(condition)) {                                         \
      if (std::getenv("HEED_REQUIRE_FAULTS")) FAIL() << (what); \
      GTEST_SKIP() << "NOT TESTED HERE: " << (what);            \
    }                                                           \
  } while (false)

// What the shell makes of a line with the program's name in the place of @.
inline Outcome with_heed(std::string line) {
  for (size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1))
    line.replace(at, 1, HEED_PROGRAM);
  return shell(line);
}

// A disk of its own in memory, seen by this process and its children only.
class SmallDisk {
 public:
  // Whether there may be such disks here; the first call takes this process out of the others' view.
  static bool possible() {
    static const bool can = [] {
      const bool own = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
      return own && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    }();
    return can;
  }

  SmallDisk(const std::string& path, int64_t kib) : path_(path) {
    std::filesystem::create_directories(path);
    ready_ = ::mount("heed-faults", path.c_str(), "tmpfs", 0, size(kib).c_str()) == 0;
    EXPECT_TRUE(ready_) << std::strerror(errno);
  }
  ~SmallDisk() {
    if (ready_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  void resize(int64_t kib) const { remount(0, kib); }
  void make_read_only(int64_t kib) const { remount(MS_RDONLY, kib); }

 private:
  static std::string size(int64_t kib) { return text("size=", kib, "k"); }
  void remount(unsigned long flags, int64_t kib) const {
    EXPECT_EQ(::mount("heed-faults", path_.c_str(), "tmpfs", MS_REMOUNT | flags, size(kib).c_str()), 0)
        << std::strerror(errno);
  }
  std::string path_;
  bool ready_ = false;
};

// One of the long verbs, at its smallest.
enum class Work { kTrain, kSearch, kSupernet, kRank };
inline constexpr Work kWorks[] = {Work::kTrain, Work::kSearch, Work::kSupernet, Work::kRank};

class Faults : public Verbs {
 protected:
  static const char* name(Work work) {
    constexpr const char* kNames[] = {"train", "search", "supernet", "rank"};
    return kNames[static_cast<int>(work)];
  }

  // The words after `heed`.
  std::string command(Work work, const std::string& out) const {
    const std::string end = " -o " + path(out) + " --threads 1";
    switch (work) {
      case Work::kTrain:
        return "train " + tiny() + " --data " + text() +
               " --steps 60 --evaluate-every 20 --save-seconds 0.005 --samples 8" + end;
      case Work::kSearch:
        return "search " + space() +
               " --strategy evolution --iterations 8 --keep 2 --no-baselines --profile " +
               path("profile.db") + end;
      case Work::kSupernet:
        return "supernet " + tiny() + " --data " + text() +
               " --layers 3 --steps 40 --cycle 10 --unchanged 0 --save-seconds 0.005" + end;
      case Work::kRank:
        return "rank --space " + space() + " --models 3 --max-steps 20 --data " + text() + end;
    }
    return "";
  }

  // Undisturbed, to be compared with.
  void do_whole(Work work) const {
    const Outcome outcome = heed(command(work, whole(work)));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
  }
  static std::string whole(Work work) { return std::string("whole-") + name(work); }

  // What the work leaves is what it leaves undisturbed.
  void expect_same_end(Work work, const std::string& out) const {
    std::vector<std::string> files;
    switch (work) {
      case Work::kTrain:
        files = {"model/model.safetensors", "checkpoints/step-00000060/model.safetensors",
                 "checkpoints/step-00000060/state.safetensors", "samples.jsonl", "metrics.jsonl"};
        break;
      case Work::kSearch:
        files = {"frontier.csv"};
        break;
      case Work::kSupernet:
        files = {"seed-1/theta.jsonl", "seed-1/found.json", "seed-1/metrics.jsonl",
                 "seed-1/checkpoints/step-00000040/model.safetensors"};
        break;
      case Work::kRank:
        files = {"models.csv", "m001/model/model.safetensors", "m002/model/model.safetensors",
                 "m003/model/model.safetensors"};
        break;
    }
    for (const std::string& file : files) {
      ASSERT_TRUE(std::filesystem::exists(path(whole(work) + "/" + file))) << file;
      EXPECT_TRUE(timeless(path(out + "/" + file)) == timeless(path(whole(work) + "/" + file)))
          << name(work) << ": " << file;
    }
    expect_whole_files(out);
    expect_nothing_unfinished(out);
  }

  // What the fault has left is whole, and the work goes on from it to the same end.
  void expect_goes_on(Work work, const std::string& out) const {
    expect_whole_files(out);
    const Outcome rest = heed(command(work, out));
    EXPECT_EQ(rest.code, 0) << rest.output;
    expect_same_end(work, out);
  }

  // Everything under its final name can be read to its end.
  void expect_whole_files(const std::string& out) const {
    std::error_code none;
    std::filesystem::recursive_directory_iterator entry(path(out), none), end;
    for (; !none && entry != end; entry.increment(none)) {
      const std::filesystem::path& found = entry->path();
      if (store::is_unfinished_name(found)) entry.disable_recursion_pending();
      if (!entry->is_regular_file() || store::is_unfinished_name(found)) continue;
      try {
        check_whole(found);
      } catch (const std::exception& error) {
        ADD_FAILURE() << found << ": " << error.what();
      }
    }
  }
  void expect_nothing_unfinished(const std::string& out) const {
    std::error_code none;
    for (std::filesystem::recursive_directory_iterator entry(path(out), none), end; !none && entry != end;
         entry.increment(none))
      EXPECT_FALSE(store::is_unfinished_name(entry->path())) << entry->path();
  }

  // Ends with the code, and says in words what is wrong; `parts` are among them.
  static void expect_told(const Outcome& outcome, int code, const std::vector<std::string>& parts = {}) {
    EXPECT_EQ(outcome.code, code) << outcome.output;
    EXPECT_TRUE(contains(outcome, "heed: ")) << outcome.output;
    for (const std::string& part : parts)
      EXPECT_TRUE(contains(outcome, part)) << part << " in:\n" << outcome.output;
    for (const char* raw : {"json.exception", "assertion failed", "filesystem error", "terminate called",
                            "std::", ": Success", "basic_string", "Aborted", "(core dumped)", "libgomp"})
      EXPECT_FALSE(contains(outcome, raw)) << raw << " in:\n" << outcome.output;
  }

 private:
  static void check_whole(const std::filesystem::path& file) {
    const std::string kind = file.extension();
    const std::string all = content(file);
    if (kind == ".json" || file.filename() == "pick") {
      if (!Json::accept(all)) throw std::runtime_error("is no JSON");
    } else if (kind == ".safetensors") {
      store::Safetensors(file).all();
    } else if (kind == ".csv") {
      const Csv csv(all, file.string());
      if (!all.ends_with('\n')) throw std::runtime_error("is cut off");
    } else if (kind == ".html" || kind == ".svg") {
      if (!all.ends_with(kind == ".svg" ? "</svg>\n" : "</html>\n")) throw std::runtime_error("is cut off");
    } else if (kind == ".db") {
      const store::Database database(file);
      store::Statement check(database, "PRAGMA integrity_check");
      if (!check.step() || check.text(0) != "ok") throw std::runtime_error(check.text(0));
    }
  }

  // Lines of JSON without the time that was spent; other files as they are.
  static std::string timeless(const std::string& path) {
    if (!path.ends_with(".jsonl")) return content(path);
    std::istringstream lines(content(path));
    std::string all;
    for (std::string line; std::getline(lines, line);) {
      Json json = Json::parse(line, nullptr, false);
      for (const char* time : {"seconds", "whole_seconds", "tokens_per_second"}) json.erase(time);
      all += json.dump() + "\n";
    }
    return all;
  }
};

}  // namespace heed::test
