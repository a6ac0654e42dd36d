// The SRU recurrence, forward (as in training: states kept) and backward, in nanoseconds per element of [B,
// T, D].
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/kernels/isa.h"
#include "heed/kernels/sru.h"
#include "heed/tensor/buffer.h"

namespace {

using namespace heed;

constexpr int64_t kSlots = 3;

// Everything both passes touch, in memory like that of a Program.
struct Data {
  int64_t B, T, D;
  Buffer u, x, v, bias, h, c_last, c, dh, du, dx, dv, dbias, dc0, partial;

  Data(int64_t batch, int64_t steps, int64_t width)
      : B(batch),
        T(steps),
        D(width),
        u(4 * B * T * kSlots * D),
        x(4 * B * T * D),
        v(8 * D),
        bias(8 * D),
        h(4 * B * T * D),
        c_last(4 * B * D),
        c(4 * B * T * D),
        dh(4 * B * T * D),
        du(4 * B * T * kSlots * D),
        dx(4 * B * T * D),
        dv(8 * D),
        dbias(8 * D),
        dc0(4 * B * D),
        partial(4 * kernels::sru_partials(B, D)) {
    kernels::isa();  // reads the environment and the CPU once, outside the measured loops
    Rng rng(1);
    for (Buffer* buffer : {&u, &x, &v, &bias, &dh, &h, &du, &dx}) {  // outputs too: their pages must exist
      for (int64_t i = 0; i < buffer->bytes() / 4; ++i)
        floats(*buffer)[i] = static_cast<float>(rng.uniform(-1, 1));
    }
    kernels::sru({inputs(), floats(h), floats(c_last), floats(c)});
  }
  static float* floats(const Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

  kernels::SruInputs inputs() const {
    return {.batch = B,
            .steps = T,
            .width = D,
            .slots = kSlots,
            .tanh = false,
            .bidirectional = false,
            .rescale = 1,
            .u = floats(u),
            .x = floats(x),
            .v = floats(v),
            .bias = floats(bias),
            .c0 = nullptr,
            .mask = nullptr,
            .padding = nullptr};
  }
};

void report(benchmark::State& state, const Data& data) {
  // Inverted rate: seconds per 1e9 elements, which is nanoseconds per element.
  const double elements = static_cast<double>(state.iterations() * data.B * data.T * data.D);
  state.counters["ns_per_element"] =
      benchmark::Counter(elements * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void forward(benchmark::State& state) {
  const Data data(state.range(0), state.range(1), state.range(2));
  set_thread_count(static_cast<int>(state.range(3)));
  const bool keep = state.range(4) != 0;
  for (auto _ : state) {
    kernels::sru({data.inputs(), Data::floats(data.h), Data::floats(data.c_last),
                  keep ? Data::floats(data.c) : nullptr});
  }
  report(state, data);
}

// in_place: du in the memory of u and dx in that of dh, as the plan of a training graph has it. Both are then
// filled again before every round: gradients of gradients soon are denormal numbers, which are slow.
void backward(benchmark::State& state) {
  const Data data(state.range(0), state.range(1), state.range(2));
  set_thread_count(static_cast<int>(state.range(3)));
  const bool in_place = state.range(4) != 0;
  kernels::SruInputs in = data.inputs();
  const float* dh = Data::floats(data.dh);
  if (in_place) {
    in.u = Data::floats(data.du);
    dh = Data::floats(data.dx);
  }
  for (auto _ : state) {
    if (in_place) {
      state.PauseTiming();
      std::memcpy(data.du.data(), data.u.data(), static_cast<size_t>(data.u.bytes()));
      std::memcpy(data.dx.data(), data.dh.data(), static_cast<size_t>(data.dh.bytes()));
      state.ResumeTiming();
    }
    kernels::sru_backward({in, Data::floats(data.c), dh, nullptr, Data::floats(data.du),
                           Data::floats(data.dx), Data::floats(data.dv), Data::floats(data.dbias),
                           Data::floats(data.dc0), Data::floats(data.partial)});
  }
  report(state, data);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int64_t threads : {1, 2}) {
    b->Args({1, 512, 512, threads, 0})->Args({1, 512, 512, threads, 1});
    b->Args({1, 256, 3072, threads, 0})->Args({16, 64, 1024, threads, 0})->Args({8, 512, 768, threads, 0});
    b->Args({1, 256, 3072, threads, 1})->Args({16, 64, 1024, threads, 1})->Args({8, 512, 768, threads, 1});
  }
  b->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(forward)->ArgNames({"B", "T", "D", "threads", "keep"})->Apply(sizes);
BENCHMARK(backward)->ArgNames({"B", "T", "D", "threads", "in_place"})->Apply(sizes);

}  // namespace
