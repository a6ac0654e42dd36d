#include "heed/ops/sinusoid.h"

#include <algorithm>
#include <cmath>

#include "heed/base/threads.h"

namespace heed::ops {

ValueId sinusoid(Graph& graph, SinusoidSettings settings) {
  return graph.add_one(make<Sinusoid>(settings), {});
}

std::vector<TensorType> Sinusoid::infer(const Signature& s) const {
  expect_inputs(s, 0, 0);
  expect(settings_.width >= 2 && settings_.width % 2 == 0,
         text("width must be even, it is ", settings_.width));
  expect(settings_.length >= 1, text("length must be at least 1, it is ", settings_.length));
  return {{{settings_.length, settings_.width}}};
}

void Sinusoid::run(const Run& r) const {
  const int64_t half = settings_.width / 2;
  float* y = r.out(0).f32();
  parallel_for(half, threads_for(40.0 * static_cast<double>(settings_.length * half)), [&](int64_t k) {
    // In double: at distance 1000 a float angle would be off by 1e-4.
    const double frequency =
        std::pow(10000.0, -2.0 * static_cast<double>(k) / static_cast<double>(settings_.width));
    for (int64_t row = 0; row < settings_.length; ++row) {
      int64_t distance = settings_.length - 1 - row;
      if (settings_.clamp > 0) distance = std::min(distance, settings_.clamp);
      const double angle = static_cast<double>(distance) * frequency;
      y[row * settings_.width + k] = static_cast<float>(std::sin(angle));
      y[row * settings_.width + half + k] = static_cast<float>(std::cos(angle));
    }
  });
}

}  // namespace heed::ops
