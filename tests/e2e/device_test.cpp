#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, DeviceMeasuresOnceAndShows) {
  const std::string space = file("small.toml", R"(
length = 16
[model]
backbone = "gpt2"
vocabulary = 100
[genes]
layers = [1, 2]
width = [16, 32]
heads = [2]
inner = [16, 32]
)");
  const std::string profile = " --profile " + path("p.db");
  EXPECT_TRUE(contains(heed("device" + profile), "nothing is measured yet"));
  const Outcome first = heed("device " + space + profile + " --check 2 --json");
  ASSERT_EQ(first.code, 0) << first.output;
  const Json json = Json::parse(first.out);
  EXPECT_EQ(json["pieces"].size(), 8u);  // for each width: attention, two inner widths, the frame
  EXPECT_EQ(json["check"]["models"].size(), 2u);
  EXPECT_GT(json["check"]["models"][0]["measured"], 0);
  EXPECT_FALSE(json["device"]["cpu"].get<std::string>().empty());
  const Outcome shown = heed("device" + profile);
  EXPECT_TRUE(contains(shown, "frame")) << shown.out;
  EXPECT_TRUE(contains(shown, "gpt2")) << shown.out;
  // The second time nothing is measured.
  EXPECT_EQ(Json::parse(heed("device " + space + profile + " --json").out)["pieces"], json["pieces"]);
}

TEST_F(Verbs, DeviceRefuses) {
  refuses("device --check 3 --profile " + path("p.db"), 2, "--check needs a space");
  refuses("device --check -1 --profile " + path("p.db"), 2, "it must be 0 or more");
  refuses("device no-such-space --profile " + path("p.db"), 2, "there is no space 'no-such-space'");
  file("text.db", std::string(3000, 'x'));
  refuses("device --profile " + path("text.db"), 1, "move it away to begin a new one");
}

}  // namespace
}  // namespace heed::test
