// Floating point numbers of 16 bits, for storage: f16 (IEEE 754: 5 bits of exponent, 10 of mantissa) and bf16
// (the upper half of an f32: 8 and 7).
#pragma once

#include <cstdint>

namespace heed {

// Exact.
float from_f16(uint16_t bits);
float from_bf16(uint16_t bits);

// Rounds to nearest, ties to even; values that are too large become infinite. NaN stays NaN.
uint16_t to_f16(float value);
uint16_t to_bf16(float value);

}  // namespace heed
