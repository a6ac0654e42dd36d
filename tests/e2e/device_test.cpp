#include <algorithm>
#include <cmath>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, DeviceMeasuresOnceAndShows) {
  const std::string space = Verbs::space({{"model.backbone", "\"gpt2\""}, {"model.vocabulary", "100"}});
  const std::string profile = " --profile " + path("p.db");
  EXPECT_TRUE(contains(heed("device" + profile), "nothing is measured yet"));
  const Outcome first = heed("device " + space + profile + " --check 3 --json");
  ASSERT_EQ(first.code, 0) << first.output;
  const Json json = Json::parse(first.out);
  // For each width attention, two inner widths and the frame, at a prompt and at a step.
  EXPECT_EQ(json["pieces"].size(), 16u);
  for (const char* at : {"prompt", "step"}) {
    const Json& check = json["check"][at];
    ASSERT_EQ(check["models"].size(), 3u);
    // By hand: the middle one of three ratios, and of what is left when all are divided by it.
    std::vector<double> ratios, errors, apart;
    for (const Json& model : check["models"])
      ratios.push_back(model["measured"].get<double>() / model["predicted"].get<double>());
    std::sort(ratios.begin(), ratios.end());
    for (const double ratio : ratios) {
      errors.push_back(std::abs(1 / ratio - 1));
      apart.push_back(std::abs(ratios[1] / ratio - 1));
    }
    std::sort(errors.begin(), errors.end());
    std::sort(apart.begin(), apart.end());
    EXPECT_NEAR(check["drift"], ratios[1], 1e-9);
    EXPECT_NEAR(check["median_error"], errors[1], 1e-9);
    EXPECT_NEAR(check["p95_error"], errors[2], 1e-9);
    EXPECT_NEAR(check["median_error_apart_from_drift"], apart[1], 1e-9);
  }
  EXPECT_FALSE(json["device"]["cpu"].get<std::string>().empty());
  const Outcome shown = heed("device" + profile);
  EXPECT_TRUE(contains(shown, "frame")) << shown.out;
  EXPECT_TRUE(contains(shown, "gpt2")) << shown.out;
  // The second time nothing is measured.
  EXPECT_EQ(Json::parse(heed("device " + space + profile + " --json").out)["pieces"], json["pieces"]);
}

TEST_F(Verbs, DeviceRefuses) {
  refuses("device --check 3 --profile " + path("p.db"), 2, "--check needs a space");
  refuses("device --check -1 --profile " + path("p.db"), 2,
          "--check: '-1' was given; write a whole number from 0 on");
  refuses("device no-such-space --profile " + path("p.db"), 2, "there is no space 'no-such-space'");
  file("text.db", std::string(3000, 'x'));
  refuses("device --profile " + path("text.db"), 1, "move it away to start a new one");
}

}  // namespace
}  // namespace heed::test
