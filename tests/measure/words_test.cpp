#include "heed/measure/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace heed::measure {
namespace {

const std::vector<int64_t> kEnds = {19997, 39997, 199997, 267735};

TEST(Words, AreAsManyPerClusterAsInText) {
  EXPECT_EQ(words_per_cluster(64, 4), (std::vector<int64_t>{60, 2, 2, 0}));
  EXPECT_EQ(words_per_cluster(768, 4), (std::vector<int64_t>{724, 20, 22, 2}));
  EXPECT_EQ(words_per_cluster(768, 1), (std::vector<int64_t>{768}));
  EXPECT_EQ(words_per_cluster(1, 4), (std::vector<int64_t>{1, 0, 0, 0}));
  for (const uint64_t seed : {1, 2}) {
    std::vector<int32_t> words(768);
    draw_words(words, kEnds, seed);
    const auto in = [&](int64_t begin, int64_t end) {
      return std::count_if(words.begin(), words.end(), [&](int32_t w) { return w >= begin && w < end; });
    };
    EXPECT_EQ(in(0, kEnds[0]), 724);
    EXPECT_EQ(in(kEnds[0], kEnds[1]), 20);
    EXPECT_EQ(in(kEnds[1], kEnds[2]), 22);
    EXPECT_EQ(in(kEnds[2], kEnds[3]), 2);
    EXPECT_FALSE(std::is_sorted(words.begin(), words.begin() + 100));
  }
}

TEST(Words, FollowZipf) {
  std::vector<int32_t> words(100000), again(100000);
  draw_words(words, {100}, 5);
  draw_words(again, {100}, 5);
  EXPECT_EQ(words, again);
  double harmonic = 0;
  for (int k = 1; k <= 100; ++k) harmonic += 1.0 / k;
  for (const int word : {0, 1, 9, 99}) {
    const double expected = 1e5 / (word + 1) / harmonic;
    const auto found = static_cast<double>(std::count(words.begin(), words.end(), word));
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected)) << word;  // five standard deviations
  }
  std::vector<int32_t> none;
  draw_words(none, kEnds, 1);
  std::vector<int32_t> one(1);
  draw_words(one, {1}, 1);
  EXPECT_EQ(one[0], 0);
}

}  // namespace
}  // namespace heed::measure
