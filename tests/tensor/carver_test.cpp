#include "heed/tensor/carver.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

struct Arrays {
  float* floats;
  int8_t* bytes;
  double* nothing;
  int32_t* ints;

  explicit Arrays(Carver& carver)
      : floats(carver.take<float>(17)),
        bytes(carver.take<int8_t>(3)),
        nothing(carver.take<double>(0)),
        ints(carver.take<int32_t>(16)) {}
};

TEST(Carver, CountsWhatItLaterCuts) {
  Carver counted;
  EXPECT_EQ(Arrays(counted).floats, nullptr);
  EXPECT_EQ(counted.bytes(), 128 + 64 + 0 + 64);

  const Buffer memory(counted.bytes());
  Carver cut(std::span(memory.data(), static_cast<size_t>(memory.bytes())));
  const Arrays arrays(cut);
  const auto at = [&](const void* array) { return static_cast<const std::byte*>(array) - memory.data(); };
  EXPECT_EQ(at(arrays.floats), 0);
  EXPECT_EQ(at(arrays.bytes), 128);
  EXPECT_EQ(at(arrays.ints), 192);
  EXPECT_EQ(cut.bytes(), counted.bytes());
  EXPECT_TRUE(cut.fits<float>(0));
  EXPECT_FALSE(cut.fits<float>(1));
  EXPECT_THROW(cut.take<float>(1), AssertionFailed);  // more than was counted
}

TEST(Carver, TellsDistancesToo) {
  Carver carver;
  EXPECT_EQ(carver.place<float>(5), 0);
  EXPECT_EQ(carver.place<float>(5), 16);
  EXPECT_EQ(carver.place<double>(1), 16);  // in numbers of its own type
}

}  // namespace
}  // namespace heed
