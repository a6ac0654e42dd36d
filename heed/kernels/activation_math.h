// The non-linearities on vectors. See vec.h for the rules of such headers.
#pragma once

#include "heed/kernels/activation.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {

// erf by a polynomial in x^2 up to 1 and exp(-x^2) times a polynomial in 1/(1+0.47|x|) beyond; both were
// fitted at Chebyshev points, largest absolute error 6e-8.
HEED_INLINE Vec verf(Vec x) {
  const Vec magnitude = x < 0.f ? -x : x;
  const Vec x2 = x * x;
  Vec p = splat(7.933495e-05f);
  p = p * x2 - 8.0348470e-04f;
  p = p * x2 + 5.1912186e-03f;
  p = p * x2 - 2.6855400e-02f;
  p = p * x2 + 1.12836257e-01f;
  p = p * x2 - 3.76126289e-01f;
  p = p * x2 + 1.12837923f;
  const Vec inner = p * x;
  const Vec t = 1.f / (1.f + 0.47f * magnitude);
  Vec q = splat(-1.30771939e-01f);
  q = q * t + 2.14336999e-01f;
  q = q * t + 1.58293561e-01f;
  q = q * t + 2.19116884e-01f;
  q = q * t + 2.75160105e-01f;
  q = q * t + 2.63034356e-01f;
  q = q * t + 1.67684613e-04f;
  const Vec outer = 1.f - q * vexp(-x2);
  return select(magnitude < 1.f, inner, x < 0.f ? -outer : outer);
}

inline constexpr float kSqrtHalf = 0.70710678f, kSqrt2OverPi = 0.79788456f, kInvSqrt2Pi = 0.39894228f,
                       kGeluCubic = 0.044715f;

template <Activation activation>
HEED_INLINE Vec activate(Vec x) {
  if constexpr (activation == Activation::kRelu) return select(x < 0.f, splat(0.f), x);  // NaN stays NaN
  if constexpr (activation == Activation::kGelu) return 0.5f * x * (1.f + verf(x * kSqrtHalf));
  // 0.5 x (1 + tanh u) = x sigmoid(2u): one exponential, and no loss of precision in the tails.
  if constexpr (activation == Activation::kGeluTanh)
    return x * vsigmoid(2.f * kSqrt2OverPi * (x + kGeluCubic * x * x * x));
  if constexpr (activation == Activation::kTanh) return vtanh(x);
  return x;
}

template <Activation activation>
HEED_INLINE Vec derivative(Vec x) {
  if constexpr (activation == Activation::kRelu) {
    return select(x <= 0.f, splat(0.f), select(x > 0.f, splat(1.f), x));
  }
  if constexpr (activation == Activation::kGelu) {
    return 0.5f * (1.f + verf(x * kSqrtHalf)) + x * kInvSqrt2Pi * vexp(-0.5f * x * x);
  }
  if constexpr (activation == Activation::kGeluTanh) {
    // sigmoid(z) + x sigmoid(z) sigmoid(-z) z', both sigmoids from one exponential: 1 - sigmoid would lose
    // precision in the tail, which z' then magnifies.
    const Vec z = 2.f * kSqrt2OverPi * (x + kGeluCubic * x * x * x);
    const Vec e = exp_bounded(z < 0.f ? z : -z);
    const Vec more = 1.f / (1.f + e), less = e * more;
    const Vec slope = 2.f * kSqrt2OverPi * (1.f + 3.f * kGeluCubic * x * x);
    return (z < 0.f ? less : more) + x * more * less * slope;
  }
  if constexpr (activation == Activation::kTanh) {
    const Vec t = vtanh(x);
    return 1.f - t * t;
  }
  return splat(1.f);
}

// Calls body with the activation as a compile-time constant.
template <class Body>
HEED_INLINE void with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::kNone:
      return body.template operator()<Activation::kNone>();
    case Activation::kRelu:
      return body.template operator()<Activation::kRelu>();
    case Activation::kGelu:
      return body.template operator()<Activation::kGelu>();
    case Activation::kGeluTanh:
      return body.template operator()<Activation::kGeluTanh>();
    case Activation::kTanh:
      return body.template operator()<Activation::kTanh>();
  }
}

}  // namespace heed::kernels::HEED_ISA
