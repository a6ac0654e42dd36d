#include "heed/kernels/sru.h"

#include "heed/base/threads.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {
namespace {

// A sigmoid, and 1 minus it without cancellation: its derivative is their product.
struct Gate {
  Vec open, closed;
};
HEED_INLINE Gate gate_of(Vec z) {
  const Vec e = exp_bounded(-z);
  const Vec open = 1.f / (1.f + e);
  return {open, e * open};
}

// Time is the outer loop and units the inner one: every step then streams through a few long rows, which is 2
// to 3 times faster than iterating over time with a few units. Neighbouring vectors are independent, so the
// long chain of one (two exponentials, two divisions) overlaps with the next ones without unrolling:
// unrolling by four was slower (too many registers), and one division for both gates was not faster.
constexpr int64_t kMostUnits = 1024, kLeastUnits = 256;

// One batch row and a block of units, all of one direction.
struct Task {
  int64_t row, begin, units;
  bool reversed;
};

// How the work is split, by shape alone. Long rows stream best; a small batch is split finer so that every
// thread has work.
struct Cut {
  int64_t directions, blocks, units;  // blocks of `units` per direction, the last may be smaller
  int64_t tasks;
};
HEED_INLINE Cut cut_of(const SruInputs& in) {
  const int64_t directions = in.bidirectional ? 2 : 1, half = in.width / directions;
  const int64_t rows = larger(1, in.batch * directions);
  const int64_t wanted =
      larger((half + kMostUnits - 1) / kMostUnits, smaller((8 + rows - 1) / rows, half / kLeastUnits));
  const int64_t units = larger(1, (half + wanted * 64 - 1) / (wanted * 64)) * 64;
  const int64_t blocks = (half + units - 1) / units;
  return {directions, blocks, units, in.batch * directions * blocks};
}
HEED_INLINE Task task_of(const SruInputs& in, const Cut& cut, int64_t number) {
  const int64_t half = in.width / cut.directions, first = number % cut.blocks * cut.units;
  const int64_t direction = number / cut.blocks % cut.directions;
  return {number / cut.blocks / cut.directions, direction * half + first, smaller(cut.units, half - first),
          direction == 1};
}

// The values that a vector of units keeps over time are copied to an array on the stack. In their own memory,
// the rows of v, bias, mask and the sums would map to the same cache sets as those of u for the usual widths
// (4 KiB apart) and evict each other: backward took 1.5 times as long.
struct Weights {
  Vec vf, vr, bf, br, mask;
};
HEED_INLINE Weights weights_of(const SruInputs& in, const Task& task, int64_t i, int64_t lanes) {
  const int64_t j = task.begin + i, D = in.width;
  return {load_at(in.v + j, lanes), load_at(in.v + D + j, lanes), load_at(in.bias + j, lanes),
          load_at(in.bias + D + j, lanes), in.mask ? load_at(in.mask + task.row * D + j, lanes) : splat(1.f)};
}

HEED_INLINE Vec load_or_zero(const float* p, int64_t i, int64_t lanes) {
  return p ? load_at(p + i, lanes) : Vec{};
}

// Loads from a row and prefetches the same column of the next row, `ahead` floats away: the hardware
// prefetchers lose track at the end of each row.
HEED_INLINE Vec stream(const float* p, int64_t ahead, int64_t lanes) {
  __builtin_prefetch(p + ahead);
  return load_at(p, lanes);
}

HEED_INLINE void zero(float* p, int64_t n) {
  for_vectors(n, [&](int64_t i, int64_t lanes) { store_at(p + i, Vec{}, lanes); });
}

// The rows of one step, from the first unit of the task on.
struct Step {
  int64_t number;  // row * T + t
  int64_t ahead;   // to the step visited next: 1, -1, or 0 at the end
  const float* u;
  const float* skip;  // X without its factor, or null
  float rescale;      // that factor
  int64_t skip_row;   // floats between rows of skip
  bool padded;
};
HEED_INLINE Step step_of(const SruInputs& in, const Task& task, int64_t t, int64_t ahead) {
  Step step{};
  step.number = task.row * in.steps + t;
  step.ahead = ahead;
  step.u = in.u + step.number * in.slots * in.width + task.begin;
  const bool projected = in.slots == 4;
  step.skip = projected ? step.u + 3 * in.width : in.x ? in.x + step.number * in.width + task.begin : nullptr;
  step.rescale = projected ? 1.f : in.rescale;
  step.skip_row = projected ? 4 * in.width : in.width;
  step.padded = in.padding && in.padding[step.number] != 0;
  return step;
}

template <bool tanh>
HEED_INLINE void forward(const SruForward& a, const Task& task) {
  const SruInputs& in = a.in;
  const int64_t T = in.steps, D = in.width, at = task.row * D + task.begin;
  struct Unit {
    Weights w;
    Vec c;
  } units[kMostUnits / kLanes];
  for_vectors(task.units, [&](int64_t j, int64_t lanes) {
    units[j / kLanes] = {weights_of(in, task, j, lanes),
                         load_or_zero(in.c0 ? in.c0 + at : nullptr, j, lanes)};
  });
  for (int64_t i = 0; i < T; ++i) {
    const int64_t direction = task.reversed ? -1 : 1;
    const Step s = step_of(in, task, task.reversed ? T - 1 - i : i, i + 1 < T ? direction : 0);
    const int64_t u_ahead = s.ahead * in.slots * D;
    float* h = a.h + s.number * D + task.begin;
    float* c = a.c ? a.c + s.number * D + task.begin : nullptr;
    if (s.padded) {
      zero(h, task.units);
      if (c)
        for_vectors(task.units,
                    [&](int64_t j, int64_t lanes) { store_at(c + j, units[j / kLanes].c, lanes); });
      continue;
    }
    for_vectors(task.units, [&](int64_t j, int64_t lanes) {
      Unit& unit = units[j / kLanes];
      const Vec candidate = stream(s.u + j, u_ahead, lanes);
      const Gate forget = gate_of(stream(s.u + D + j, u_ahead, lanes) + unit.w.bf + unit.w.vf * unit.c);
      const Gate reset = gate_of(stream(s.u + 2 * D + j, u_ahead, lanes) + unit.w.br + unit.w.vr * unit.c);
      unit.c = candidate + (unit.c - candidate) * forget.open;
      if (c) store_at(c + j, unit.c, lanes);
      const Vec x = s.skip ? s.rescale * stream(s.skip + j, s.ahead * s.skip_row, lanes) : Vec{};
      const Vec g = tanh ? vtanh(unit.c) : unit.c;
      store_at(h + j, x + (g - x) * (unit.w.mask * reset.open), lanes);
    });
  }
  for_vectors(task.units,
              [&](int64_t j, int64_t lanes) { store_at(a.c_last + at + j, units[j / kLanes].c, lanes); });
}

// Against the direction of the state. With e the adjoint of c_t from later steps, a_f and a_r those of the
// gates' arguments:
//   a_r = dh mask (g - X) r (1 - r)     G = e + dh mask r g'     a_f = G (c_{t-1} - U0) f (1 - f)
//   dU0 = G (1 - f)     dX = dh (1 - mask r)     e <- G f + a_f vf + a_r vr
template <bool tanh>
HEED_INLINE void backward(const SruBackward& a, const Task& task) {
  const SruInputs& in = a.in;
  const int64_t T = in.steps, D = in.width, S = in.slots * D, at = task.row * D + task.begin;
  struct Unit {
    Weights w;
    Vec e, dvf, dvr, dbf, dbr;
  } units[kMostUnits / kLanes];
  for_vectors(task.units, [&](int64_t j, int64_t lanes) {
    const Vec e = load_or_zero(a.dc_last ? a.dc_last + at : nullptr, j, lanes);
    units[j / kLanes] = {weights_of(in, task, j, lanes), e, Vec{}, Vec{}, Vec{}, Vec{}};
  });
  for (int64_t i = T - 1; i >= 0; --i) {
    const int64_t direction = task.reversed ? 1 : -1;
    const Step s = step_of(in, task, task.reversed ? T - 1 - i : i, i > 0 ? direction : 0);
    float* du = a.du + s.number * S + task.begin;
    float* dskip = in.slots == 4 ? du + 3 * D : a.dx ? a.dx + s.number * D + task.begin : nullptr;
    if (s.padded) {
      for (int64_t slot = 0; slot < 3; ++slot) zero(du + slot * D, task.units);
      if (dskip) zero(dskip, task.units);
      continue;
    }
    const float* c = a.c + s.number * D + task.begin;
    const float* c_before = i > 0 ? c + s.ahead * D : in.c0 ? in.c0 + at : nullptr;
    const int64_t c_ahead = i > 1 ? s.ahead * D : 0;
    const float* dh = a.dh ? a.dh + s.number * D + task.begin : nullptr;
    // May run in place (du = u, dx = dh): everything is read before anything is written.
    for_vectors(task.units, [&](int64_t j, int64_t lanes) {
      Unit& unit = units[j / kLanes];
      const Vec before = c_before ? stream(c_before + j, c_ahead, lanes) : Vec{};
      const Vec candidate = stream(s.u + j, s.ahead * S, lanes);
      const Gate forget = gate_of(stream(s.u + D + j, s.ahead * S, lanes) + unit.w.bf + unit.w.vf * before);
      const Gate reset =
          gate_of(stream(s.u + 2 * D + j, s.ahead * S, lanes) + unit.w.br + unit.w.vr * before);
      const Vec after = load_at(c + j, lanes);
      const Vec g = tanh ? vtanh(after) : after;
      const Vec x = s.skip ? s.rescale * stream(s.skip + j, s.ahead * s.skip_row, lanes) : Vec{};
      const Vec gradient = dh ? stream(dh + j, s.ahead * D, lanes) : Vec{};
      const Vec through = gradient * unit.w.mask * reset.open;
      const Vec a_r = through * (g - x) * reset.closed;
      const Vec G = unit.e + (tanh ? through * (1.f - g * g) : through);
      const Vec a_f = G * (before - candidate) * (forget.open * forget.closed);
      store_at(du + j, G * forget.closed, lanes);
      store_at(du + D + j, a_f, lanes);
      store_at(du + 2 * D + j, a_r, lanes);
      if (dskip) store_at(dskip + j, s.rescale * (gradient - through), lanes);
      unit.dvf += a_f * before;
      unit.dvr += a_r * before;
      unit.dbf += a_f;
      unit.dbr += a_r;
      unit.e = G * forget.open + a_f * unit.w.vf + a_r * unit.w.vr;
    });
  }
  float* partial = a.partial + task.row * 4 * D + task.begin;
  for_vectors(task.units, [&](int64_t j, int64_t lanes) {
    const Unit& unit = units[j / kLanes];
    store_at(a.dc0 + at + j, unit.e, lanes);
    store_at(partial + j, unit.dvf, lanes);
    store_at(partial + D + j, unit.dvr, lanes);
    store_at(partial + 2 * D + j, unit.dbf, lanes);
    store_at(partial + 3 * D + j, unit.dbr, lanes);
  });
}

HEED_INLINE double elements(const SruInputs& in) {
  return static_cast<double>(in.batch * in.steps * in.width);
}

}  // namespace

void sru(const SruForward& a) {
  const Cut cut = cut_of(a.in);
  parallel_for(cut.tasks, threads_for(1.0 * elements(a.in)), [&](int64_t number) {
    const Task task = task_of(a.in, cut, number);
    a.in.tanh ? forward<true>(a, task) : forward<false>(a, task);
  });
}

void sru_backward(const SruBackward& a) {
  const Cut cut = cut_of(a.in);
  parallel_for(cut.tasks, threads_for(2.0 * elements(a.in)), [&](int64_t number) {
    const Task task = task_of(a.in, cut, number);
    a.in.tanh ? backward<true>(a, task) : backward<false>(a, task);
  });
  const int64_t B = a.in.batch, D = a.in.width;
  parallel_for(2, threads_for(0.2 * static_cast<double>(B * 4 * D)), [&](int64_t which) {
    const float* partial = a.partial + which * 2 * D;
    float* total = which == 0 ? a.dv : a.dbias;
    for_vectors(2 * D, [&](int64_t j, int64_t lanes) {
      Vec sum_over_rows{};
      for (int64_t row = 0; row < B; ++row) sum_over_rows += load_at(partial + row * 4 * D + j, lanes);
      store_at(total + j, sum_over_rows, lanes);
    });
  });
}

}  // namespace heed::kernels::HEED_ISA
