// Attention kernels: GFLOP/s over the pairs a query really sees, forward and backward.
#include <benchmark/benchmark.h>

#include <vector>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention.h"

namespace heed {
namespace {

struct Case {
  int64_t B, T, K, H, E;
  bool relative;
};

const Case kCases[] = {
    {1, 192, 192, 12, 64, false},   // GPT-2 124M, prompt
    {4, 256, 256, 12, 64, false},   // GPT-2 124M, training
    {1, 64, 704, 8, 64, true},      // Transformer-XL Base, 640 of memory
    {1, 512, 1024, 1, 768, false},  // SRU++, one head
    {2, 33, 65, 10, 41, true},      // Transformer-XL of the original authors: odd head width
};

std::vector<float> numbers(int64_t n, uint32_t stream) {
  Rng rng(7, stream);
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = static_cast<float>(rng.uniform(-1, 1));
  return v;
}

void run(benchmark::State& state, bool backward) {
  const Case& c = kCases[state.range(0)];
  set_thread_count(static_cast<int>(state.range(1)));
  const int64_t width = c.H * c.E;
  auto q = numbers(c.B * c.T * width, 0), k = numbers(c.B * c.K * width, 1),
       v = numbers(c.B * c.K * width, 2), r = numbers(c.K * width, 3);
  auto u = numbers(width, 4), w = numbers(width, 5), dout = numbers(c.B * c.T * width, 6);
  std::vector<float> out(q.size()), lse(static_cast<size_t>(c.B * c.H * c.T)), dq(q.size()), dk(k.size()),
      dv(v.size()), dr(r.size()), du(u.size()), dw(w.size());
  kernels::AttentionBackward g{};
  kernels::Attention& a = g.forward;
  a.B = c.B, a.T = c.T, a.K = c.K, a.H = c.H, a.E = c.E;
  a.q = {q.data(), width}, a.k = {k.data(), width}, a.v = {v.data(), width}, a.out = {out.data(), width};
  a.first_query = c.K - c.T;
  a.lse = lse.data();
  a.workers = thread_count();
  if (c.relative) a.relative = r.data(), a.R = c.K, a.u = u.data(), a.w = w.data();
  std::vector<float> scratch(static_cast<size_t>(kernels::attention_scratch(a, true)));
  a.scratch = scratch.data();
  g.dout = {dout.data(), width}, g.dq = {dq.data(), width}, g.dk = {dk.data(), width},
  g.dv = {dv.data(), width};
  if (c.relative) g.drelative = dr.data(), g.du = du.data(), g.dw = dw.data();
  kernels::attention(a);
  for (auto _ : state) backward ? kernels::attention_backward(g) : kernels::attention(a);
  double pairs = 0;
  for (int64_t i = 0; i < c.T; ++i) pairs += static_cast<double>(c.K - c.T + i + 1);
  const double products = backward ? (c.relative ? 8 : 5) : (c.relative ? 3 : 2);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * products * pairs * static_cast<double>(c.B * width),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void Forward(benchmark::State& state) { run(state, false); }
void Backward(benchmark::State& state) { run(state, true); }
BENCHMARK(Forward)
    ->ArgsProduct({{0, 1, 2, 3, 4}, {1, 2}})
    ->ArgNames({"case", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(Backward)
    ->ArgsProduct({{0, 1, 2, 3, 4}, {1, 2}})
    ->ArgNames({"case", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace heed
