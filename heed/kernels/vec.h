// Vectors of floats for the kernels, on the compiler's vector extension: the same source for every
// instruction set, explicit lanes, no fast-math. Only for files compiled once per instruction set (isa.h).
//
// All of it is forced inline with internal linkage: a function compiled for AVX-512 that the linker could
// share with other files would crash on older CPUs. For the same reason kernels use nothing from the
// standard library that might not be inlined.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "heed/base/philox.h"

#ifndef HEED_ISA
#error "vec.h is only for kernels compiled once per instruction set"
#endif

#define HEED_INLINE static inline __attribute__((always_inline))

namespace heed::kernels::HEED_ISA {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#else
inline constexpr int kLanes = 8;
#endif

typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int32_t IVec __attribute__((vector_size(kLanes * 4)));
typedef uint32_t UVec __attribute__((vector_size(kLanes * 4)));

HEED_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
HEED_INLINE int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

HEED_INLINE Vec splat(float x) { return x - Vec{}; }
HEED_INLINE IVec splat_int(int32_t x) { return x - IVec{}; }
HEED_INLINE Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
HEED_INLINE void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
HEED_INLINE IVec lane_numbers() {
  IVec v{};
  for (int i = 0; i < kLanes; ++i) v[i] = i;
  return v;
}
// (The masked forms of two intrinsics are used where the plain ones make GCC 12 warn of a variable in its own
// header.) The first n lanes, the rest zero; n in [0, kLanes]. Memory beyond them is not touched. gather
// takes p[at[i]] into lane i.
#if defined(__AVX512F__)
HEED_INLINE Vec load_some(const float* p, int64_t n) {
  return (Vec)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
}
HEED_INLINE void store_some(float* p, Vec v, int64_t n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), (__m512)v);
}
HEED_INLINE Vec gather(const float* p, IVec at) {
  return (Vec)_mm512_mask_i32gather_ps(__m512{}, 0xffff, (__m512i)at, p, 4);
}
HEED_INLINE Vec vsqrt(Vec v) { return (Vec)_mm512_maskz_sqrt_ps(0xffff, (__m512)v); }
#else
HEED_INLINE __m256i first_lanes(int64_t n) { return (__m256i)(lane_numbers() < static_cast<int32_t>(n)); }
HEED_INLINE Vec load_some(const float* p, int64_t n) { return (Vec)_mm256_maskload_ps(p, first_lanes(n)); }
HEED_INLINE void store_some(float* p, Vec v, int64_t n) { _mm256_maskstore_ps(p, first_lanes(n), (__m256)v); }
HEED_INLINE Vec gather(const float* p, IVec at) { return (Vec)_mm256_i32gather_ps(p, (__m256i)at, 4); }
HEED_INLINE Vec vsqrt(Vec v) { return (Vec)_mm256_sqrt_ps((__m256)v); }
#endif
HEED_INLINE Vec select(IVec condition, Vec yes, Vec no) { return condition ? yes : no; }
HEED_INLINE Vec vmax(Vec a, Vec b) { return a > b ? a : b; }
HEED_INLINE float sum(Vec v) {
  float parts[kLanes];
  __builtin_memcpy(parts, &v, sizeof v);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) parts[i] += parts[i + width];
  }
  return parts[0];
}
HEED_INLINE float maximum(Vec v) {
  float m = v[0];
  for (int i = 1; i < kLanes; ++i) m = v[i] > m ? v[i] : m;
  return m;
}

// e^x for x in [-87, 87], clamped outside; NaN stays NaN. About 1 ulp: x = n ln2 + r with
// |r| <= ln2/2, a polynomial for e^r, n added to the exponent by bits.
HEED_INLINE Vec exp_bounded(Vec x) {
  x = select(x < -87.f, splat(-87.f), x);  // comparisons with NaN are false
  x = select(x > 87.f, splat(87.f), x);
  const Vec shifter = splat(12582912.f);  // 1.5 * 2^23: adding it rounds to the nearest integer
  const Vec rounded = x * 1.44269504f + shifter;
  const Vec n = rounded - shifter;
  Vec r = x - n * 0.693145752f;  // ln2 in two parts, the first with few bits, so that n * it is exact
  r = r - n * 1.42860677e-6f;
  Vec p = splat(1.f / 5040);
  p = p * r + 1.f / 720;
  p = p * r + 1.f / 120;
  p = p * r + 1.f / 24;
  p = p * r + 1.f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.f;
  p = p * r + 1.f;
  const IVec exponent = ((IVec)rounded + 127) << 23;  // n + 127: the low 9 bits of `shifter` are 0
  return p * (Vec)exponent;
}

// e^x for x <= 87, and exactly 0 below -87: for softmax, whose arguments are at most 0 and may be -infinity.
HEED_INLINE Vec vexp(Vec x) { return select(x < -87.f, splat(0.f), exp_bounded(x)); }

// The clamped exponential suffices for a sigmoid: it is 1 or about 1e-38 there.
HEED_INLINE Vec vsigmoid(Vec x) { return 1.f / (1.f + exp_bounded(-x)); }
// tanh(x) = 1 - 2/(1+e^2x) loses precision near 0, where a short odd series is used.
HEED_INLINE Vec vtanh(Vec x) {
  const Vec x2 = x * x;
  Vec series = splat(-17.f / 315);
  series = series * x2 + 2.f / 15;
  series = series * x2 - 1.f / 3;
  series = x + x * x2 * series;
  const IVec small = x2 < 0.01f;
  return select(small, series, 1.f - 2.f / (1.f + exp_bounded(2.f * x)));
}

// Philox4x32-10 (base/philox.h) for kLanes counters at once; lane i of word w is word w of counter[0] = first
// + i.
struct RandomWords {
  UVec word[4];
};
HEED_INLINE RandomWords vphilox(UVec counter0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t key0,
                                uint32_t key1) {
  typedef uint64_t Wide __attribute__((vector_size(kLanes * 8)));
  UVec a = counter0, b = c1 - UVec{}, c = c2 - UVec{}, d = c3 - UVec{};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Wide low = __builtin_convertvector(a, Wide) * static_cast<uint64_t>(kPhiloxMultiplier0);
    const Wide high = __builtin_convertvector(c, Wide) * static_cast<uint64_t>(kPhiloxMultiplier1);
    a = __builtin_convertvector(high >> 32, UVec) ^ b ^ key0;
    c = __builtin_convertvector(low >> 32, UVec) ^ d ^ key1;
    b = __builtin_convertvector(high, UVec);
    d = __builtin_convertvector(low, UVec);
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return {{a, b, c, d}};
}

// body(index, lanes) over [0, n) in steps of kLanes: the last step may be short. `load_at`/`store_at`
// below take the same arguments, so that a kernel is written once for whole vectors and tails.
template <class Body>
HEED_INLINE void for_vectors(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, static_cast<int64_t>(kLanes));
  if (i < n) body(i, n - i);
}
HEED_INLINE Vec load_at(const float* p, int64_t lanes) {
  return lanes == kLanes ? load(p) : load_some(p, lanes);
}
HEED_INLINE void store_at(float* p, Vec v, int64_t lanes) {
  lanes == kLanes ? store(p, v) : store_some(p, v, lanes);
}

}  // namespace heed::kernels::HEED_ISA
