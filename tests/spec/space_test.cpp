#include "heed/spec/space.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/toml.h"
#include "tests/support/messages.h"

namespace heed::spec {
namespace {

using test::message_of;

Space read(const std::string& toml) { return read_space(parse_toml(toml, "t"), "t"); }

constexpr const char* kSmall = R"(
length = 32
[model]
backbone = "gpt2"
vocabulary = 100
[genes]
layers = [1, 3]
layer = ["sf", "f"]
width = {from = 16, to = 32, step = 16}
heads = [2, 4]
inner = [16, 48, 64]
[limits]
inner_over_width = 1.5
most_decoder = 20000
least_total = 300
)";

TEST(Space, OptionsAreEveryLayerAWidthMayHave) {
  const Space space = read(kSmall);
  // 24 at least for width 16, 48 for 32: two inner widths each, with two numbers of heads or without.
  EXPECT_EQ(space.options(16), (std::vector<Layer>{{0, {{"heads", 2}, {"inner", 48}}},
                                                   {0, {{"heads", 2}, {"inner", 64}}},
                                                   {0, {{"heads", 4}, {"inner", 48}}},
                                                   {0, {{"heads", 4}, {"inner", 64}}},
                                                   {1, {{"inner", 48}}},
                                                   {1, {{"inner", 64}}}}));
  EXPECT_EQ(space.options(32).size(), 6u);
  EXPECT_NEAR(space.log10_size(), std::log10(2 * (6 + 6 * 6 * 6)), 1e-12);
  EXPECT_EQ(space.frames().size(), 2u);
  EXPECT_EQ(space.length, 32);
  EXPECT_EQ(space.least_decoder, 0);
  EXPECT_EQ(space.most_decoder, 20000);
  EXPECT_TRUE(space.allows_size(20000, 300));
  EXPECT_FALSE(space.allows_size(20001, 300));
  EXPECT_FALSE(space.allows_size(20000, 299));
}

TEST(Space, CandidatesAreModels) {
  const Space space = read(kSmall);
  const Candidate candidate{
      {32, 0, 1, 100},
      {{0, {{"heads", 4}, {"inner", 64}}}, {0, {{"heads", 2}, {"inner", 48}}}, {1, {{"inner", 64}}}}};
  const ModelSpec model = space.model_of(candidate);
  EXPECT_EQ(model.letters(), "sfsff");
  EXPECT_EQ(model.sizes["heads"], (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(model.sizes["inner"], (std::vector<int64_t>{64, 48, 64}));
  EXPECT_EQ(model.width, 32);
  validate(model);
  EXPECT_EQ(space.key_of(candidate), "32/0/1/100 sf4:64 sf2:48 f:64");
  EXPECT_EQ(space.candidate_of("32/0/1/100 sf4:64 sf2:48 f:64"), candidate);
  EXPECT_EQ(space.candidate_of("32/0/1/100").layers.size(), 0u);
  for (const char* wrong : {"", "32/0/1", "32/0/1/100 x4", "32/0/1/100 sf4:", "32/0/1/100 sf4:64x"})
    EXPECT_THROW(space.candidate_of(wrong), Error) << wrong;
}

TEST(Space, TheFloorOfARuleIsAllowed) {
  Space space = read(kSmall);
  const Size inner = sizes()[size_index("inner")];
  space.over_width["inner"] = 1.7;
  EXPECT_TRUE(space.allows(64, inner, 108));  // 108.8
  EXPECT_FALSE(space.allows(64, inner, 107));
}

// 10^37.5 and 10^36.5: what Javaheripi and others 2022 describe and what their code searched, with one width
// per model.
TEST(Space, PublishedSpacesHaveTheirSize) {
  EXPECT_NEAR(load_space("lts-txl").log10_size(), 37.5, 0.05);
  EXPECT_NEAR(load_space("lts-txl-code").log10_size(), 36.5, 0.05);
  for (const std::string& name : space_names()) {
    const Space space = load_space(name);
    EXPECT_EQ(space.name, name);
    EXPECT_FALSE(space.about.empty()) << name;
    EXPECT_GT(space.log10_size(), 3) << name;
  }
}

TEST(Space, GenesReplaceThoseOfTheFile) {
  const Space whole = load_space("letters"),
              some = load_space("letters", "vocabulary = 256, width = [128, 256]");
  EXPECT_EQ(some.vocabulary, std::vector<int64_t>{256});
  EXPECT_EQ(some.width, (std::vector<int64_t>{128, 256}));
  EXPECT_EQ(some.layers, whole.layers);
  EXPECT_EQ(some.source["genes"]["vocabulary"], 256);  // what a folder keeps
  EXPECT_EQ(load_space("letters", "layers = {from = 3, to = 5}").layers, (std::vector<int64_t>{3, 4, 5}));
  const auto refused = [](const std::string& genes) {
    return message_of([&] { load_space("letters", genes); });
  };
  EXPECT_NE(refused("vocabular = 256").find("with --genes 'vocabular = 256': genes: unknown key"),
            std::string::npos);
  EXPECT_NE(refused("vocabulary 256").find("--genes 'vocabulary 256': not TOML"), std::string::npos);
  EXPECT_NE(refused("a = 1}\nlength = {b = 2").find("unknown key"), std::string::npos);
}

TEST(Space, RefusesWhatMakesNoModels) {
  const auto refused = [](const std::string& toml) { return message_of([&] { read(toml); }); };
  const std::pair<const char*, const char*> rules[] = {
      {"[gene]\n", "t: unknown key 'gene'; did you mean 'genes'?"},
      {"[genes]\nlayer = []\n", "t: genes: layer must be a list of letters such as [\"sf\", \"f\"]"},
      {"[genes]\nwith = 8\n", "t: genes: unknown key 'with'; did you mean 'width'?"},
      {"[genes]\nwidth = []\n", "t: genes: width has no values"},
      {"[genes]\nwidth = [16, 16]\n", "t: genes: width names a value twice"},
      {"[genes]\nwidth = 1.5\n", "t: genes: width must be a whole number, it is 1.5"},
      {"[genes]\nwidth = {from = 8, to = 4}\n",
       "t: genes: width: from 8 to 4 by 1 is not a range of 1 to 4096 values"},
      {"[genes]\nwidth = {from = 8, until = 4}\n",
       "t: genes: width: unknown key 'until'; a range has from, to and step"},
      {"[genes]\nwidth = {to = 4}\n", "t: genes: width: a range needs from and to"},
      {"[genes]\nlayers = 0\n", "t: genes: layers: 0 is less than 1"},
      {"[genes]\ninner = 64\n[limits]\ninner_over_width = 2\n",
       "t is empty: no inner width is at least 2 times a width, or no number of heads divides one"},
      {"[limits]\nleast_decoder = 9\nmost_decoder = 3\n",
       "t: limits: least_decoder 9 is more than most_decoder 3"},
      {"[=]\n", "t: not TOML: it breaks the syntax"},
      {"[genes]\nwidth = {from = 0, to = 9223372036854775807, step = 9223372036854775807}\n",
       "t: genes: width: 0 is less than 1"},
  };
  for (const auto& [toml, message] : rules) EXPECT_EQ(refused(toml), message) << toml;
  EXPECT_EQ(refused("[genes]\nwidth = [16").substr(0, 20), "t: not TOML: line 2:");
  EXPECT_NE(refused("[genes]\nlayer = [\"sx\"]\n").find("x"), std::string::npos);
  EXPECT_EQ(message_of([] {
              read_space({{"length", UINT64_MAX}}, "t");
            }),
            "t: length must be a whole number, it is 18446744073709551615");
  EXPECT_EQ(
      refused(
          "[genes]\ndivision = 5\nembedding_width = 4\n[model]\nbackbone = \"gpt2\"\ncutoffs = [10, 20]\n")
          .substr(0, 40),
      "t: 768/4/5/50257 sf12:3072 cannot be bui");
  EXPECT_NE(message_of([] { load_space("lts-tlx"); }).find("did you mean 'lts-txl'?"), std::string::npos);
}

// Each list may be long; together they must not fill the memory.
TEST(Space, ListsThatMultiplyBeyondAllMeasureAreRefused) {
  const std::string range = " = {from = 1, to = 4096}\n";
  const std::string frames = message_of([&] {
    read("[genes]\nwidth" + range + "embedding_width" + range + "division" + range + "vocabulary" + range);
  });
  EXPECT_NE(frames.find("t: genes: 2.81475e+14 frames"), std::string::npos) << frames;
  const std::string layers = message_of([&] { read("[genes]\nheads" + range + "inner" + range); });
  EXPECT_NE(layers.find("1.67772e+07 layers are too many to try"), std::string::npos) << layers;
}

// Keys with dots are tables within tables, which go away by recursion.
TEST(Space, DeepKeysAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 200000; ++i) key += ".a";
  EXPECT_EQ(message_of([&] { read(key + " = 1\n"); }),
            "t: has more than 1000 dots; settings are never nested this deep");
}

}  // namespace
}  // namespace heed::spec
