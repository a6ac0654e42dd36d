#include "heed/kernels/activation.h"

#include "heed/base/threads.h"
#include "heed/kernels/activation_math.h"

namespace heed::kernels::HEED_ISA {

void activation_forward(const ActivationForward& a) {
  parallel_range(a.n, threads_for(0.5 * static_cast<double>(a.n)), [&](int64_t begin, int64_t end) {
    with_activation(a.activation, [&]<Activation activation>() {
      for_vectors(end - begin, [&](int64_t i, int64_t lanes) {
        store_at(a.y + begin + i, activate<activation>(load_at(a.x + begin + i, lanes)), lanes);
      });
    });
  });
}

void activation_backward(const ActivationBackward& a) {
  parallel_range(a.n, threads_for(0.6 * static_cast<double>(a.n)), [&](int64_t begin, int64_t end) {
    with_activation(a.activation, [&]<Activation activation>() {
      for_vectors(end - begin, [&](int64_t i, int64_t lanes) {
        const int64_t at = begin + i;
        store_at(a.dx + at, load_at(a.dy + at, lanes) * derivative<activation>(load_at(a.x + at, lanes)),
                 lanes);
      });
    });
  });
}

void linear_epilogue(const LinearEpilogue& e) {
  with_activation(e.activation, [&]<Activation activation>() {
    for (int64_t row = 0; row < e.rows; ++row) {
      float* y = e.y + row * e.leading;
      float* z = e.z ? e.z + row * e.leading : y;
      const float* residual = e.residual ? e.residual + row * e.leading : nullptr;
      for_vectors(e.columns, [&](int64_t j, int64_t lanes) {
        Vec v = load_at(z + j, lanes);
        if (e.bias) v += load_at(e.bias + j, lanes);
        if (e.z) store_at(z + j, v, lanes);
        v = activate<activation>(v);
        if (residual) v += load_at(residual + j, lanes);
        store_at(y + j, v, lanes);
      });
    }
  });
}

}  // namespace heed::kernels::HEED_ISA
