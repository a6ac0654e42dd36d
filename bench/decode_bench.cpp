// Token by token a model reads all its weights and its cache for a few rows of arithmetic, so the measure is
// GB/s, beside a plain read of as much memory. Every round takes other weights, as the layers of a model do:
// nothing is found in a cache that would not be there in a real run.
#include <benchmark/benchmark.h>

#include <vector>

#include "heed/base/threads.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/panels.h"
#include "heed/tensor/buffer.h"

namespace heed {
namespace {

constexpr int64_t kBytes = 256 << 20;  // several times the caches of a server

// kBytes cut into pieces that take turns.
class Turns {
 public:
  explicit Turns(int64_t floats) : floats_(floats), count_(std::max<int64_t>(1, kBytes / (4 * floats))) {
    for (int64_t i = 0; i < count_ * floats_; ++i) memory()[i] = 0.001f * static_cast<float>(i % 1000);
  }
  float* next() { return memory() + turn_++ % count_ * floats_; }

 private:
  float* memory() { return reinterpret_cast<float*>(buffer_.data()); }

  int64_t floats_, count_, turn_ = 0;
  Buffer buffer_{4 * floats_ * count_};
};

void report(benchmark::State& state, int64_t floats) {
  state.counters["GB/s"] =
      benchmark::Counter(4e-9 * static_cast<double>(floats), benchmark::Counter::kIsIterationInvariantRate);
}

typedef float Four __attribute__((vector_size(16)));

// Several sums side by side: one alone would wait for its own additions, not for memory.
float sum_of(const float* from, int64_t floats) {
  Four sums[8] = {};
  for (int64_t i = 0; i + 32 <= floats; i += 32) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < 8; ++j) {
      Four four;
      __builtin_memcpy(&four, from + i + 4 * j, sizeof four);
      sums[j] += four;
    }
  }
  for (int j = 1; j < 8; ++j) sums[0] += sums[j];
  return sums[0][0] + sums[0][1] + sums[0][2] + sums[0][3];
}

void Read(benchmark::State& state) {
  const int64_t floats = state.range(0) * state.range(1);
  set_thread_count(static_cast<int>(state.range(2)));
  Turns turns(floats);
  for (auto _ : state) {
    const float* from = turns.next();
    parallel_for(8 * thread_count(), thread_count(), [&](int64_t piece) {
      const int64_t each = floats / (8 * thread_count());
      benchmark::DoNotOptimize(sum_of(from + piece * each, each));
    });
  }
  report(state, floats);
}

void Product(benchmark::State& state) {
  const int64_t in = state.range(0), out = state.range(1), rows = state.range(3);
  set_thread_count(static_cast<int>(state.range(2)));
  const int64_t floats = kernels::panel_count(out) * in * kernels::kPanelWidth;
  Turns turns(floats);
  std::vector<float> x(static_cast<size_t>(rows * in), 1.f), y(static_cast<size_t>(rows * out));
  for (auto _ : state)
    kernels::panel_product(
        {rows, in, out, x.data(), turns.next(), Activation::kNone, nullptr, nullptr, y.data()});
  report(state, floats);
}

// A cache whose rows hold keys and values side by side.
void Attention(benchmark::State& state) {
  kernels::Attention a{};
  a.B = 1, a.H = state.range(0), a.E = state.range(1), a.K = state.range(2), a.T = state.range(3);
  set_thread_count(static_cast<int>(state.range(4)));
  const bool few = state.range(5) != 0;
  const int64_t width = a.H * a.E;
  Turns turns(a.K * 2 * width);
  std::vector<float> q(static_cast<size_t>(a.T * width), 0.1f), out(q.size()),
      lse(static_cast<size_t>(a.H * a.T));
  a.q = {q.data(), width}, a.out = {out.data(), width}, a.lse = lse.data();
  a.first_query = a.K - a.T;
  a.workers = thread_count();
  std::vector<float> scratch(
      static_cast<size_t>(few ? kernels::attention_decode_scratch(a) : kernels::attention_scratch(a, false)));
  a.scratch = scratch.data();
  for (auto _ : state) {
    float* const cache = turns.next();
    a.k = {cache, 2 * width}, a.v = {cache + width, 2 * width};
    few ? kernels::attention_decode(a) : kernels::attention(a);
  }
  report(state, a.K * 2 * width);
}

void sizes(benchmark::internal::Benchmark* b, std::vector<int64_t> rest) {
  for (const auto& [in, out] :
       {std::pair<int64_t, int64_t>{768, 3072}, {3072, 768}, {768, 50257}, {512, 2048}}) {
    for (const int64_t threads : {1, 2}) {
      if (rest.empty()) b->Args({in, out, threads});
      for (const int64_t rows : rest) b->Args({in, out, threads, rows});
    }
  }
  b->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(Read)->ArgNames({"in", "out", "threads"})->Apply([](auto* b) { sizes(b, {}); });
BENCHMARK(Product)->ArgNames({"in", "out", "threads", "rows"})->Apply([](auto* b) {
  sizes(b, {1, 2, 4, 8});
});
BENCHMARK(Attention)
    ->ArgNames({"H", "E", "K", "T", "threads", "few"})
    ->ArgsProduct({{12}, {64}, {256, 1024}, {1, 4}, {1, 2}, {0, 1}})
    ->ArgsProduct({{10}, {41}, {1024}, {1}, {1, 2}, {0, 1}})
    ->ArgsProduct({{1}, {768}, {1024}, {1, 4}, {1, 2}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace heed
