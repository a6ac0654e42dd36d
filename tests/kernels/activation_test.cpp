#include "heed/kernels/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace heed {
namespace {

// A number that is not one must reach the loss, where the run stops.
TEST(Activation, NanStaysNan) {
  for (const kernels::Isa isa : {kernels::Isa::kV3, kernels::Isa::kV4}) {
    if (!kernels::supported(isa)) continue;
    kernels::force_isa(isa);
    for (const auto& [activation, name] : EnumNames<Activation>::names) {
      std::vector<float> x(37, 0.5f), y(37), ones(37, 1.f), dx(37);
      x[3] = x[35] = NAN;
      kernels::activation_forward({activation, 37, x.data(), y.data()});
      kernels::activation_backward({activation, 37, x.data(), ones.data(), dx.data()});
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(std::isnan(y[i]), i == 3 || i == 35) << name << " " << i;
        const bool expected = activation != Activation::kNone && (i == 3 || i == 35);
        EXPECT_EQ(std::isnan(dx[i]), expected) << name << "' " << i;
      }
    }
  }
}

}  // namespace
}  // namespace heed
