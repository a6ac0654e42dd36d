#include "heed/tensor/half.h"

#include <bit>

namespace heed {
namespace {

constexpr uint32_t kInfinity = 0x7f800000;  // of an f32, without its sign

}  // namespace

float from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, mantissa = bits & 0x3ff;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  if (exponent == 0) {  // no multiplication of subnormal floats, which the processor may be told to flush
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -size : size;
  }
  const uint32_t wider = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wider << 23 | mantissa << 13);
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t to_f16(float value) {
  constexpr uint32_t kTooLarge =
      0x477ff000;                           // 65520, halfway between the largest f16 and the next power of 2
  constexpr uint32_t kNormal = 0x38800000;  // 2^-14, the smallest f16 that is not subnormal
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  uint32_t half = 0;
  if (size > kInfinity) {
    half = 0x7e00 | (size >> 13 & 0x3ff);  // quiet, so that a mantissa of low bits alone does not become 0
  } else if (size >= kTooLarge) {
    half = 0x7c00;
  } else if (size >= kNormal) {
    const uint32_t rebased = size - (112u << 23);  // the exponent as f16 counts it
    half = (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
  } else if (const uint32_t shift = 126 - (size >> 23);
             shift <= 24) {  // in units of 2^-24, half a unit or more
    const uint32_t mantissa = (size & 0x7fffff) | 0x800000;
    half = mantissa >> shift;
    const uint32_t rest = mantissa - (half << shift), tie = 1u << (shift - 1);
    if (rest > tie || (rest == tie && half % 2 == 1)) ++half;
  }
  return static_cast<uint16_t>(sign | half);
}

uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > kInfinity) return static_cast<uint16_t>(bits >> 16 | 0x40);  // quiet, as above
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace heed
