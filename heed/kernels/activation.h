// Element-wise non-linearities, their derivatives, and the epilogue of a linear layer.
#pragma once

#include <cstdint>
#include <utility>

#include "heed/base/fields.h"
#include "heed/kernels/isa.h"

namespace heed {

enum class Activation { kNone, kRelu, kGelu, kGeluTanh, kTanh };

template <>
struct EnumNames<Activation> {
  static constexpr std::pair<Activation, const char*> names[] = {{Activation::kNone, "none"},
                                                                 {Activation::kRelu, "relu"},
                                                                 {Activation::kGelu, "gelu"},
                                                                 {Activation::kGeluTanh, "gelu_tanh"},
                                                                 {Activation::kTanh, "tanh"}};
};

namespace kernels {

// y = activation(x), n elements; in place is fine.
struct ActivationForward {
  Activation activation;
  int64_t n;
  const float* x;
  float* y;
};
HEED_KERNEL(activation_forward, ActivationForward)

// dx = dy * activation'(x); dx may be dy.
struct ActivationBackward {
  Activation activation;
  int64_t n;
  const float* x;
  const float* dy;
  float* dx;
};
HEED_KERNEL(activation_backward, ActivationBackward)

// The epilogue of a linear layer, on one rectangle, on the calling thread:
//   z = product + bias;  y = activation(z) + residual
// The product is read from z, or from y if z is null; z is written back only if it is kept.
struct LinearEpilogue {
  Activation activation;
  int64_t rows, columns;
  float* z;               // null: not kept
  const float* bias;      // [columns] or null
  const float* residual;  // or null
  float* y;
  int64_t leading;  // of z, residual and y
};
HEED_KERNEL(linear_epilogue, LinearEpilogue)

}  // namespace kernels
}  // namespace heed
