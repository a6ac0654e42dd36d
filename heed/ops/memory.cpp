#include "heed/ops/memory.h"

#include <cstring>

#include "heed/base/threads.h"
#include "heed/ops/vocabulary.h"

namespace heed::ops {
namespace {

void expect_index(const Signature& s, size_t input, const char* meaning) {
  expect_type(s, input, DType::kI32, {1}, meaning);
}

// The run-time index in `input`, 0 if absent; throws if index + `length` exceeds `count`.
int64_t index_of(std::string_view op, const char* meaning, const Run& r, size_t input, int64_t length,
                 int64_t count) {
  const int64_t index = r.has(input) ? r.in(input).i32()[0] : 0;
  if (index < 0 || index + length > count) {
    throw usage_error(op, ": ", meaning, " ", index, length == 1 ? "" : text(" to ", index + length - 1),
                      " asked for, there are ", count);
  }
  return index;
}

void copy_floats(float* to, const float* from, int64_t count) {
  if (count > 0) std::memcpy(to, from, 4 * static_cast<size_t>(count));  // empty tensors may have no address
}

template <class Body>
void for_sequences(int64_t batch, int64_t floats_each, const Body& body) {
  parallel_for(batch, threads_for(0.4 * static_cast<double>(batch * floats_each)), body);
}

// A memory viewed as [C, B, M, D], whichever of these dimensions its shape omits.
struct Chunks {
  int64_t C, B, M, D;
};
Chunks chunks_of(const Shape& s) {
  if (s.rank() == 4) return {s.dim(0), s.dim(1), s.dim(2), s.dim(3)};
  if (s.rank() == 3) return {1, s.dim(0), s.dim(1), s.dim(2)};
  return {1, s.dim(0), 1, s.dim(1)};
}

void expect_slot(const Signature& s, size_t input, const Chunks& state) {
  expect(state.C >= 1, "a state needs at least one chunk");
  expect(state.M >= 1, "a state needs at least one row; without memory there is nothing to carry");
  if (s.has(input)) expect_index(s, input, "slot");
}

class Recall : public OpWith<Recall, RecallSettings> {
 public:
  static constexpr const char* kKind = "recall";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
};

class Remember : public OpWith<Remember, NoSettings> {
 public:
  static constexpr const char* kKind = "remember";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, true}}; }
  void run(const Run& run) const override;
};

class Append : public OpWith<Append, AppendSettings> {
 public:
  static constexpr const char* kKind = "append";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, true}}; }
  void run(const Run& run) const override;
};

class TakeRow : public OpWith<TakeRow, NoSettings> {
 public:
  static constexpr const char* kKind = "take_row";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId recall(Graph& graph, ValueId state, ValueId slot, RecallSettings settings) {
  return graph.add_one(make<Recall>(settings), {state, slot});
}

std::vector<TensorType> Recall::infer(const Signature& s) const {
  expect_input_count(s, 2);
  expect_inputs(s, 1, 2);
  expect_dtype(s, 0, DType::kF32, "state");
  expect_rank(s, 0, 4, "state");
  const Chunks state = chunks_of(s.in(0));
  expect_slot(s, 1, state);
  expect(!settings_.flat || state.M == 1, text("flat is for states of one row, this one is ", s.in(0).str()));
  if (settings_.flat) return {{{state.B, state.D}}};
  return {{{state.B, state.M, state.D}}};
}

Cost Recall::cost(const Signature& s) const { return {0, 2.0 * static_cast<double>(s.outputs[0].bytes())}; }

void Recall::run(const Run& r) const {
  const auto [C, B, M, D] = chunks_of(r.in(0).shape());
  const float* from = r.in(0).f32() + index_of(kKind, "slot", r, 1, 1, C) * B * M * D;
  for_sequences(B, M * D, [&, size = M * D](int64_t b) {
    copy_floats(r.out(0).f32() + b * size, from + b * size, size);
  });
}

ValueId remember(Graph& graph, ValueId state, ValueId x, ValueId slot) {
  return graph.add_one(make<Remember>(), {state, x, slot});
}

std::vector<TensorType> Remember::infer(const Signature& s) const {
  expect_input_count(s, 3);
  expect_inputs(s, 2, 3);
  expect_dtype(s, 0, DType::kF32, "state");
  expect_dtype(s, 1, DType::kF32, "x");
  expect(s.in(0).rank() >= 2 && s.in(0).rank() <= 4,
         text("state (input 0) needs shape [C, B, M, D], [B, M, D] or [B, D], it is ", s.in(0).str()));
  expect(s.in(1).rank() == 2 || s.in(1).rank() == 3,
         text("x (input 1) needs shape [B, T, D] or [B, D], it is ", s.in(1).str()));
  const Chunks state = chunks_of(s.in(0)), x = chunks_of(s.in(1));
  expect(x.B == state.B && x.D == state.D,
         text("state ", s.in(0).str(), " and x ", s.in(1).str(), " differ in batch or width"));
  expect_slot(s, 2, state);
  return {*s.inputs[0]};
}

Cost Remember::cost(const Signature& s) const {
  const Chunks state = chunks_of(s.in(0));
  return {0, 8.0 * static_cast<double>(state.B * state.M * state.D)};
}

void Remember::run(const Run& r) const {
  const auto [C, B, M, D] = chunks_of(r.out(0).shape());
  const int64_t T = chunks_of(r.in(1).shape()).M, taken = std::min(T, M), kept = M - taken;
  float* chunk = r.out(0).f32() + index_of(kKind, "slot", r, 2, 1, C) * B * M * D;
  const float* x = r.in(1).f32();
  for_sequences(B, M * D, [&, width = D, rows = M](int64_t b) {
    float* memory = chunk + b * rows * width;
    std::memmove(memory, memory + taken * width, 4 * static_cast<size_t>(kept * width));
    copy_floats(memory + kept * width, x + (b * T + T - taken) * width, taken * width);
  });
}

ValueId append(Graph& graph, ValueId cache, ValueId x, ValueId position, AppendSettings settings) {
  return graph.add_one(make<Append>(settings), {cache, x, position});
}

std::vector<TensorType> Append::infer(const Signature& s) const {
  expect_inputs(s, 3, 3);
  expect_dtype(s, 0, DType::kF32, "cache");
  expect_dtype(s, 1, DType::kF32, "x");
  expect_rank(s, 0, 3, "cache");
  expect_rank(s, 1, 3, "x");
  expect_index(s, 2, "position");
  const Shape &cache = s.in(0), &x = s.in(1);
  expect(cache.dim(0) == x.dim(0), text("cache ", cache.str(), " and x ", x.str(), " differ in batch"));
  expect(x.dim(1) <= cache.dim(1), text("the cache has ", cache.dim(1), " rows, x has ", x.dim(1)));
  expect(settings_.first_column >= 0 && settings_.first_column + cache.dim(2) <= x.dim(2),
         text(cache.dim(2), " columns from ", settings_.first_column, " on do not lie within x ", x.str()));
  return {*s.inputs[0]};
}

Cost Append::cost(const Signature& s) const {
  return {0, 8.0 * static_cast<double>(s.in(1).dim(0) * s.in(1).dim(1) * s.in(0).dim(2))};
}

void Append::run(const Run& r) const {
  const Shape &cache = r.out(0).shape(), &x = r.in(1).shape();
  const int64_t B = x.dim(0), T = x.dim(1), X = x.dim(2), S = cache.dim(1), W = cache.dim(2);
  const int64_t position = index_of(kKind, "rows", r, 2, T, S);
  const float* from = r.in(1).f32() + settings_.first_column;
  float* to = r.out(0).f32() + position * W;
  for_sequences(B, T * W, [&](int64_t b) {
    for (int64_t t = 0; t < T; ++t) copy_floats(to + (b * S + t) * W, from + (b * T + t) * X, W);
  });
}

ValueId take_row(Graph& graph, ValueId x, ValueId index) {
  return graph.add_one(make<TakeRow>(), {x, index});
}

std::vector<TensorType> TakeRow::infer(const Signature& s) const {
  expect_inputs(s, 2, 2);
  expect_dtype(s, 0, DType::kF32, "x");
  expect_rank(s, 0, 3, "x");
  expect_index(s, 1, "index");
  expect(s.in(0).dim(1) >= 1, text("x ", s.in(0).str(), " has no rows"));
  return {{s.in(0).with_dim(1, 1)}};
}

Cost TakeRow::cost(const Signature& s) const { return {0, 2.0 * static_cast<double>(s.outputs[0].bytes())}; }

void TakeRow::run(const Run& r) const {
  const Shape& x = r.in(0).shape();
  const int64_t B = x.dim(0), T = x.dim(1), D = x.dim(2);
  const float* row = r.in(0).f32() + index_of(kKind, "row", r, 1, 1, T) * D;
  for_sequences(B, D, [&](int64_t b) { copy_floats(r.out(0).f32() + b * D, row + b * T * D, D); });
}

std::vector<OpEntry> memory_ops() {
  return {entry<Recall>(), entry<Remember>(), entry<Append>(), entry<TakeRow>()};
}

}  // namespace heed::ops
