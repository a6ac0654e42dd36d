#include <cmath>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

// Planned peak (weights + arena + state) against what the kernel saw, less what the program has before it
// builds anything. oneDNN keeps some memory of its own per thread, whatever the size of the model.
TEST_F(Verbs, PlannedMemoryIsWhatIsUsed) {
#ifdef HEED_SANITIZED
  GTEST_SKIP() << "the sanitizer keeps memory of its own";
#endif
  const std::string sizes[] = {
      R"({"model": {"arch": "(sf)x2", "width": 256, "heads": [4], "inner": [1024], "vocabulary": 8000}})",
      R"({"model": {"arch": "(sf)x4", "width": 512, "heads": [8], "inner": [2048], "vocabulary": 20000}})",
      R"({"model": {"arch": "(sf)x6"}})",
      R"({"model": {"backbone": "transformer-xl", "arch": "(sff)x2", "vocabulary": 20000, "cutoffs": [5000]}})"};
  for (const std::string& spec : sizes) {
    for (const char* mode : {"--forward --batch 1 --length 192", "--batch 4 --length 128 --train",
                             "--batch 4 --length 128 --train --threads 1"}) {
      // Which buffers of oneDNN's threads overlap is chance; the least of three runs is without it.
      double planned = 0, measured = INFINITY;
      for (int run = 0; run < 3; ++run) {
        const Outcome outcome =
            heed("bench " + file("size.json", spec) + " " + mode + " --seconds 0 --least 1 --json");
        ASSERT_EQ(outcome.code, 0) << outcome.output;
        const Json memory = Json::parse(outcome.out)["memory"];
        planned = memory["planned"], measured = std::min<double>(measured, memory["measured"]);
        if (measured - planned < 12.0 * 1024 * 1024) break;
      }
      EXPECT_NEAR(measured, planned, std::max(0.05 * planned, 16.0 * 1024 * 1024)) << spec << " " << mode;
    }
  }
}

}  // namespace
}  // namespace heed::test
