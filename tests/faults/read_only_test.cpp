// Folders that may be read only: on a disk mounted so, and for a user without rights.
#include <span>

#include "tests/faults/support.h"

namespace heed::test {
namespace {

class ReadOnly : public Faults {
 protected:
  // What reads a run works; what would write there says so and changes nothing.
  void reads_and_refuses(std::span<const Work> works, const std::string& before,
                         const std::string& reason) const {
    const auto sum = [&](Work work) {
      std::map<std::string, std::string> all;
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(path("disk/" + std::string(name(work)))))
        if (entry.is_regular_file()) all[entry.path()] = content(entry.path());
      return all;
    };
    for (const Work work : works) {
      SCOPED_TRACE(name(work));
      const auto all = sum(work);
      expect_told(heed(command(work, std::string("disk/") + name(work)), before), 1, {reason, path("disk")});
      expect_told(heed(command(work, "disk/new"), before), 1, {reason, path("disk/new")});
      EXPECT_EQ(sum(work), all);
    }
    EXPECT_FALSE(std::filesystem::exists(path("disk/new")));
    const std::string run = path("disk/train");
    const Outcome eval = heed("eval " + run + " --data " + text() + " --threads 1", before);
    EXPECT_EQ(eval.code, 0) << eval.output;
    EXPECT_EQ(heed("generate " + run + " -n 5", before).code, 0);
    std::filesystem::create_directories(path("pages"));
    std::filesystem::permissions(path("pages"), std::filesystem::perms::all);
    const Outcome report =
        heed("report " + run + " " + path("disk/search") + " " + path("disk/supernet") + " " +
                 path("disk/rank") + " --profile " + path("disk/profile.db") + " -o " + path("pages/r.html"),
             before);
    EXPECT_EQ(report.code, 0) << report.output;
    EXPECT_FALSE(contains(report, "cannot")) << report.output;
    expect_told(heed("report " + run + " -o " + path("disk/r.html"), before), 1, {reason, "disk/r.html"});
    expect_told(heed("eval " + run + " --cache " + path("disk/cache") + " --data " + text(), before), 1,
                {reason, "disk/cache"});
  }
  void fill() const {
    for (const Work work : kWorks) {
      const Outcome outcome = heed(command(work, std::string("disk/") + name(work)));
      ASSERT_EQ(outcome.code, 0) << outcome.output;
    }
    std::filesystem::copy_file(path("profile.db"), path("disk/profile.db"));
  }
};

TEST_F(ReadOnly, Disk) {
  HEED_NEEDS(SmallDisk::possible(), "a disk of its own: this needs the right to mount");
  const SmallDisk disk(path("disk"), 65536);
  fill();
  disk.make_read_only(65536);
  reads_and_refuses(kWorks, "", "Read-only file system");
  disk.resize(65536);
  for (const Work work : kWorks) {
    ASSERT_EQ(heed(command(work, std::string("disk/") + name(work))).code, 0);
  }
}

TEST_F(ReadOnly, ForAUserWithoutRights) {
  HEED_NEEDS(::geteuid() == 0, "another user: this needs root");
  HEED_NEEDS(std::system("setpriv --reuid 65534 --regid 65534 --clear-groups " HEED_PROGRAM
                         " --version >/dev/null 2>&1") == 0,
             "another user who may run the program");
  fill();
  ASSERT_EQ(std::system(("chmod -R a+rX,go-w " + path("")).c_str()), 0);
  reads_and_refuses(std::span(kWorks).last(1),
                    "HOME=" + path("pages") + " setpriv --reuid 65534 --regid 65534 --clear-groups",
                    "Permission denied");
}

}  // namespace
}  // namespace heed::test
