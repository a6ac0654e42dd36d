// Every 16-bit pattern against its definition, computed in double; rounding against the two neighbours.
#include "heed/tensor/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/philox.h"

namespace heed {
namespace {

struct Format {
  const char* name;
  int mantissa_bits, bias;
  float (*from)(uint16_t);
  uint16_t (*to)(float);

  int exponent_bits() const { return 15 - mantissa_bits; }
  uint16_t infinity() const { return static_cast<uint16_t>(((1 << exponent_bits()) - 1) << mantissa_bits); }

  // IEEE 754's definition. 2^16 for f16's infinity and so on: what the next number would be.
  double size(uint32_t pattern) const {
    const int exponent = static_cast<int>(pattern >> mantissa_bits);
    const double mantissa = pattern & ((1u << mantissa_bits) - 1), scale = std::ldexp(1, -mantissa_bits);
    return exponent == 0 ? std::ldexp(mantissa * scale, 1 - bias)
                         : std::ldexp(1 + mantissa * scale, exponent - bias);
  }

  // By bisection among all sizes.
  uint16_t nearest(float value) const {
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double wanted = std::abs(static_cast<double>(value));
    uint32_t low = 0, high = infinity();
    if (wanted >= size(high)) return static_cast<uint16_t>(sign | high);
    while (high - low > 1) (wanted >= size((low + high) / 2) ? low : high) = (low + high) / 2;
    const double below = wanted - size(low), above = size(high) - wanted;
    const bool up = above < below || (above == below && low % 2 == 1);
    return static_cast<uint16_t>(sign | (up ? high : low));
  }
};

class Half : public testing::TestWithParam<Format> {
 protected:
  const Format format_ = GetParam();
};

TEST_P(Half, EveryPatternIsTheNumberItStandsFor) {
  for (uint32_t pattern = 0; pattern < 1u << 16; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    const float value = format_.from(bits);
    const uint32_t size = pattern & 0x7fff;
    ASSERT_EQ(std::signbit(value), pattern >= 0x8000) << pattern;
    if (size > format_.infinity()) {
      ASSERT_TRUE(std::isnan(value)) << pattern;
      ASSERT_TRUE(std::isnan(format_.from(format_.to(value)))) << pattern;
    } else {
      const double expected =
          size == format_.infinity() ? std::numeric_limits<double>::infinity() : format_.size(size);
      ASSERT_EQ(std::abs(static_cast<double>(value)), expected) << pattern;
      ASSERT_EQ(format_.to(value), bits);
    }
  }
}

// The middle of two neighbours, and the floats next to it: where a wrong rounding shows.
TEST_P(Half, RoundsToTheNearestAndTiesToEven) {
  constexpr float kLargest = std::numeric_limits<float>::infinity();
  for (uint32_t pattern = 0; pattern < format_.infinity(); ++pattern) {
    const auto middle = static_cast<float>((format_.size(pattern) + format_.size(pattern + 1)) / 2);
    for (const float value : {middle, std::nextafter(middle, 0.f), std::nextafter(middle, kLargest),
                              std::nextafter(static_cast<float>(format_.size(pattern)), 0.f)}) {
      ASSERT_EQ(format_.to(value), format_.nearest(value)) << value;
      ASSERT_EQ(format_.to(-value), format_.nearest(-value)) << value;
    }
  }
}

TEST_P(Half, RoundsWhateverFloatThereIs) {
  Rng rng(7, 1);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(rng.next());
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(format_.from(format_.to(value))));
    } else {
      ASSERT_EQ(format_.to(value), format_.nearest(value)) << value;
    }
  }
  // NaN whose mantissa lies in the bits that are cut off.
  for (const uint32_t bits : {0x7f800001u, 0xff800001u})
    EXPECT_TRUE(std::isnan(format_.from(format_.to(std::bit_cast<float>(bits)))));
}

INSTANTIATE_TEST_SUITE_P(Tensor, Half,
                         testing::Values(Format{"f16", 10, 15, from_f16, to_f16},
                                         Format{"bf16", 7, 127, from_bf16, to_bf16}),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace heed
