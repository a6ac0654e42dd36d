// The grammar of architecture strings.
#include "heed/spec/arch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/messages.h"

namespace heed::spec {
namespace {

struct Published {
  const char* arch;
  int64_t blocks, attention, feed_forward;
};

// Mandava and others 2020, tables 1 to 4 of the first version and 1 to 3 of the second.
constexpr Published kPublished[] = {
    {"(sf)x16", 32, 16, 16},
    {"(s)x6 (sf)x10 (f)x6", 32, 16, 16},
    {"(sfff)x6 (f)x8", 32, 6, 26},
    {"(f)x32", 32, 0, 32},
    {"(sfff)x1 (f)x28", 32, 1, 31},
    {"(sfff)x3 (f)x20", 32, 3, 29},
    {"(sfff)x4 (f)x16", 32, 4, 28},
    {"(sfff)x5 (f)x12", 32, 5, 27},
    {"(sff)x6 (f)x14", 32, 6, 26},
    {"(sff)x7 (f)x11", 32, 7, 25},
    {"(sfff)x7 (f)x4", 32, 7, 25},
    {"(sf)x18", 36, 18, 18},
    {"(s)x6 (sf)x12 (f)x6", 36, 18, 18},
    {"(sfff)x7 (f)x8", 36, 7, 29},
    {"(sf)x12", 24, 12, 12},
    {"(s)x6 (sf)x6 (f)x6", 24, 12, 12},
    {"(s)x5 (sf)x7 (f)x5", 24, 12, 12},
    {"(s)x3 (sf)x9 (f)x3", 24, 12, 12},
    {"(sff)x5 (f)x9", 24, 5, 19},
    {"(sf)x6", 12, 6, 6},
};

TEST(Arch, PublishedStringsHaveTheirLengths) {
  for (const Published& published : kPublished) {
    const std::string letters = parse_arch(published.arch);
    EXPECT_EQ(letters.size(), published.blocks) << published.arch;
    EXPECT_EQ(std::count(letters.begin(), letters.end(), 's'), published.attention) << published.arch;
    EXPECT_EQ(std::count(letters.begin(), letters.end(), 'f'), published.feed_forward) << published.arch;
  }
}

TEST(Arch, PrintingAndReadingIsStable) {
  for (const Published& published : kPublished) {
    const std::string letters = parse_arch(published.arch), printed = format_arch(letters);
    EXPECT_EQ(parse_arch(printed), letters) << published.arch;
    EXPECT_EQ(format_arch(parse_arch(printed)), printed) << published.arch;
    EXPECT_LE(printed.size(), std::string(published.arch).size()) << printed;
  }
  const std::string all = "sfira";
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string letters;
    uint64_t state = seed;
    for (uint64_t i = 0; i < 1 + seed % 40; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      letters += all[(state >> 40) % (seed % 2 ? 2 : 5)];
    }
    const std::string printed = format_arch(letters);
    ASSERT_EQ(parse_arch(printed), letters) << printed;
    ASSERT_EQ(format_arch(parse_arch(printed)), printed);
  }
}

TEST(Arch, PrintsShortGroups) {
  EXPECT_EQ(format_arch("sfsfsf"), "(sf)x3");
  EXPECT_EQ(format_arch(parse_arch("(sfff)x6 (f)x8")), "(sfff)x6 (f)x8");
  EXPECT_EQ(format_arch("rrrrarrrra"), "(rrrra)x2");
  EXPECT_EQ(format_arch("s"), "(s)");
}

// "(rf)x1 (sf)x2" of the repeats of a string whose blocks differ by letter only.
std::string repeats_of(const std::string& arch) {
  const std::string letters = parse_arch(arch);
  std::string out;
  for (const Repeat& repeat : written_repeats(arch, {letters.begin(), letters.end()}))
    out += (out.empty() ? "(" : " (") + letters.substr(repeat.begin, repeat.size) + ")x" +
           std::to_string(repeat.count);
  return out;
}

TEST(Arch, RepeatsKeepTheGroupsThatWereWritten) {
  EXPECT_EQ(repeats_of("rf sf sf"), "(rf)x1 (sf)x2");
  EXPECT_EQ(repeats_of("(rf) (sf)x2"), "(rf)x1 (sf)x2");
  EXPECT_EQ(repeats_of("(sf)x2000"), "(sf)x2000");
  EXPECT_EQ(repeats_of("(sfff)x6 (f)x8"), "(sfff)x6 (f)x8");
  EXPECT_EQ(repeats_of("(sff)x1 f"), "(sff)x1 (f)x1");
  EXPECT_EQ(repeats_of("s f s f"), "(sf)x2");
  EXPECT_EQ(repeats_of("sfsfsf"), "(sf)x3");  // nothing was grouped
  // Blocks of one letter with other sizes are other kinds.
  const std::vector<Repeat> repeats = written_repeats("(r)x5", U"\1\2\1\2\1");
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_EQ(repeats[0].size, 2u);
  EXPECT_EQ(repeats[0].count, 2u);
}

TEST(Arch, AllFormsOfOneString) {
  const std::string letters = "sffsffff";
  for (const char* arch : {"sffsffff", "(sff)x2 (f)x2", "(sff)x2(f)x2", " (sff)x2\t(f)x02\n",
                           "s ff (sff) f f", "(s f f)x2ff", "(sff)x2(f)x1(f)x0 f", ".s.ff.(sff)...f.f"}) {
    EXPECT_EQ(parse_arch(arch), letters) << arch;
  }
}

TEST(Arch, DotsStandForAbsentHalves) {
  EXPECT_EQ(parse_arch("s.sfsf.f"), "ssfsff");
  EXPECT_EQ(parse_arch("s.s.sfsf.f.f"), "sssfsfff");
}

TEST(Arch, RefusesAndSaysWhere) {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "no block at all"},
      {"  ", "no block at all"},
      {"...", "no block at all"},
      {"(s)x0", "no block at all"},
      {"(sf", "not closed at character 4"},
      {"(", "not closed"},
      {"()x3", "an empty group"},
      {"(sf)x", "a count is missing at character 6"},
      {"(sf)x-3", "a count is missing"},
      {"(sf)xx", "a count is missing"},
      {"(sq)x3", "'q' is not a block at character 3"},
      {"sfx3", "'x' is not a block"},
      {"(sf)3", "'3' is not a block"},
      {"((s)f)x2", "'(' is not a block"},
      {"sf)", "')' is not a block"},
      {"(S)", "'S' is not a block"},
      {"(sf)x99999", "more than 4096 blocks"},
      {"(sf)x18446744073709551616", "more than 4096 blocks"},
      {"(sf)x" + std::string(10000, '9'), "more than 4096 blocks"},
      {"(s)x4096 (f)x1", "more than 4096 blocks"},
      {"(s)x4096 f", "more than 4096 blocks"},
      {std::string(4097, 's'), "more than 4096 blocks"},
      {"s\xff", "is not a block"},
  };
  for (const auto& [arch, part] : wrong) {
    const std::string message = test::message_of([&] { parse_arch(arch); });
    EXPECT_NE(message.find(part), std::string::npos) << "'" << arch.substr(0, 40) << "': " << message;
  }
  EXPECT_THROW(parse_arch(std::string("s\0f", 3)), Error);
  EXPECT_EQ(parse_arch("(s)x4096").size(), 4096u);
}

}  // namespace
}  // namespace heed::spec
