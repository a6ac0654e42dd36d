// Matrix products of GPT-2 124M in the three layouts training needs, as heed cuts them among its threads.
#include <benchmark/benchmark.h>

#include <vector>

#include "heed/base/threads.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/panels.h"

namespace heed {
namespace {

// layout 0: y = x W, 1: dx = dy W^T, 2: dW = x^T dy
void Product(benchmark::State& state) {
  const int64_t rows = state.range(0), in = state.range(1), out = state.range(2), layout = state.range(3);
  set_thread_count(static_cast<int>(state.range(4)));
  std::vector<float> x(static_cast<size_t>(rows * in), 1.f), w(static_cast<size_t>(in * out), 1.f),
      y(static_cast<size_t>(rows * out), 1.f);
  kernels::Gemm g;
  if (layout == 0) g = {false, false, rows, out, in, x.data(), in, w.data(), out, 0, y.data(), out};
  if (layout == 1) g = {false, true, rows, in, out, y.data(), out, w.data(), out, 0, x.data(), in};
  if (layout == 2) g = {true, false, in, out, rows, x.data(), in, y.data(), out, 0, w.data(), out};
  for (auto _ : state) kernels::gemm(g);
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(rows * in) * static_cast<double>(out),
                         benchmark::Counter::kIsIterationInvariantRate);
}
// y = x W with W packed (kernels/panels.h), to hold against layout 0.
void Packed(benchmark::State& state) {
  const int64_t rows = state.range(0), in = state.range(1), out = state.range(2);
  set_thread_count(static_cast<int>(state.range(3)));
  std::vector<float> x(static_cast<size_t>(rows * in), 1.f), y(static_cast<size_t>(rows * out));
  std::vector<float> panels(static_cast<size_t>(kernels::panel_count(out) * in * kernels::kPanelWidth), 1.f);
  for (auto _ : state)
    kernels::panel_product(
        {rows, in, out, x.data(), panels.data(), Activation::kNone, nullptr, nullptr, y.data()});
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(rows * in) * static_cast<double>(out),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Packed)
    ->ArgsProduct({{192}, {768}, {768, 2304, 3072, 50257}, {1, 2}})
    ->ArgsProduct({{192}, {3072}, {768}, {1, 2}})
    ->ArgNames({"rows", "in", "out", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

BENCHMARK(Product)
    ->ArgsProduct({{192, 1024}, {768}, {768, 2304, 3072}, {0, 1, 2}, {1, 2}})
    ->ArgsProduct({{192, 1024}, {3072}, {768}, {0, 1, 2}, {1, 2}})
    ->ArgNames({"rows", "in", "out", "layout", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace heed
