// A log that is read while it grows.
#include "heed/store/line_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/error.h"
#include "heed/base/files.h"

namespace heed::store {
namespace {

class LineReaders : public testing::Test {
 protected:
  void write(const std::string& more) const { std::ofstream(file_, std::ios::app) << more; }

  // The numbers that are given now; "-" where all that was known is forgotten.
  std::string read() {
    std::string given;
    reader_.read_on([&](const Json& line) { given += line.at("n").dump() + " "; }, [&] { given += "- "; });
    return given;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "log.jsonl";
  LineReader reader_{file_};
};

TEST_F(LineReaders, GiveEveryLineOnce) {
  EXPECT_THROW(read(), Error);
  write("");
  EXPECT_EQ(read(), "");
  write("{\"n\": 1}\n{\"n\": 2}\n{\"n\"");
  EXPECT_EQ(read(), "1 2 ");
  EXPECT_EQ(read(), "");
  write(": 3}");
  EXPECT_EQ(read(), "");
  write("\n{\"n\": 4}\n");
  EXPECT_EQ(read(), "3 4 ");
}

TEST_F(LineReaders, NoticeThatAFileWasCutOrReplaced) {
  write("{\"n\": 1}\n{\"n\": 2}\n{\"n\": 3}\n");
  EXPECT_EQ(read(), "1 2 3 ");
  std::filesystem::resize_file(file_, 9);
  EXPECT_EQ(read(), "- 1 ");
  write("{\"n\": 5}\n{\"n\": 6}\n");
  EXPECT_EQ(read(), "5 6 ");
  // Cut and longer than before when it is looked at next.
  std::filesystem::resize_file(file_, 9);
  write("{\"n\": 7}\n{\"n\": 8}\n{\"n\": 9}\n");
  EXPECT_EQ(read(), "- 1 7 8 9 ");
  std::filesystem::remove(file_);
  EXPECT_THROW(read(), Error);
  write("{\"n\": 1}\n");
  EXPECT_EQ(read(), "1 ");
}

TEST_F(LineReaders, TellOfADamagedLineEveryTime) {
  write("{\"n\": 1}\n{\"n\": 2}\n");
  EXPECT_EQ(read(), "1 2 ");
  write("{\"n\"\n");
  EXPECT_EQ(read(), "");  // it may still become one
  write("{\"n\": 4}\n");
  for (int again = 0; again < 2; ++again) {
    try {
      read();
      ADD_FAILURE() << "not told";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("line 3 is not a JSON object"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace heed::store
