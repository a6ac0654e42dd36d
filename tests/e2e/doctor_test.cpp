#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, DoctorSaysWhatThereIs) {
  const Outcome outcome = heed("doctor");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  for (const char* word :
       {"processor", "cores", "threads", "instructions", "oneDNN", "SQLite", "memory", "FLOP/s"})
    EXPECT_TRUE(contains(outcome, word)) << word << " in " << outcome.out;
}

TEST_F(Verbs, DoctorSaysItInJson) {
  const Json json = Json::parse(heed("doctor --json --threads 1").out);
  EXPECT_EQ(json["threads"], 1);
  EXPECT_GE(json["cores"], 1);
  EXPECT_GT(json["memory"], 100 << 20);
  EXPECT_GT(json["peak_flops"], 1e8);
  EXPECT_GE(json["busy_cores"], 0);
  if (json["allowed"] > 1) {
    EXPECT_NE(json["advice"].dump().find("--threads sets it"), std::string::npos) << json["advice"];
  }
}

TEST_F(Verbs, DoctorRefuses) { refuses("doctor --jsn", 2, "did you mean '--json'?"); }

}  // namespace
}  // namespace heed::test
