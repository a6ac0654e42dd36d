#include "heed/ops/sinusoid.h"

#include <algorithm>
#include <cmath>

#include "heed/base/threads.h"

namespace heed::ops {
namespace {

class Sinusoid : public OpWith<Sinusoid, SinusoidSettings> {
 public:
  static constexpr const char* kKind = "sinusoid";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

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
  constexpr int64_t kTogether = 16;
  const int64_t half = settings_.width / 2, length = settings_.length;
  float* const y = r.out(0).f32();
  const double work = 2.0 * static_cast<double>(length * half);
  parallel_for((half + kTogether - 1) / kTogether, threads_for(work), [&](int64_t block) {
    const int64_t first = block * kTogether, count = std::min(kTogether, half - first);
    // From distance to distance each angle advances by its frequency; in double, so that the error of
    // thousands of steps stays far below the last bit of a float.
    double sine[kTogether] = {}, cosine[kTogether], sine_of_turn[kTogether] = {},
           cosine_of_turn[kTogether] = {};
    std::fill_n(cosine, kTogether, 1.0);
    for (int64_t k = 0; k < count; ++k) {
      const double frequency =
          std::pow(10000.0, -2.0 * static_cast<double>(first + k) / static_cast<double>(settings_.width));
      sine_of_turn[k] = std::sin(frequency);
      cosine_of_turn[k] = std::cos(frequency);
    }
    for (int64_t distance = 0; distance < length; ++distance) {
      float* const row = y + (length - 1 - distance) * settings_.width + first;
      for (int64_t k = 0; k < count; ++k) {
        row[k] = static_cast<float>(sine[k]);
        row[half + k] = static_cast<float>(cosine[k]);
      }
      if (settings_.clamp > 0 && distance >= settings_.clamp) continue;
      for (int64_t k = 0; k < kTogether; ++k) {
        const double turned = sine[k] * cosine_of_turn[k] + cosine[k] * sine_of_turn[k];
        cosine[k] = cosine[k] * cosine_of_turn[k] - sine[k] * sine_of_turn[k];
        sine[k] = turned;
      }
    }
  });
}

std::vector<OpEntry> sinusoid_ops() { return {entry<Sinusoid>()}; }

}  // namespace heed::ops
