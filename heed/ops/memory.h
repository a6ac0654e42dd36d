// What a model carries from one run to the next: segments of memory, states of recurrent cells, caches of
// keys and values. None of it has gradients: a model does not learn through what it saw in an earlier run.
//
// remember and append write in place (required aliases). Whatever reads the old content has to come earlier
// in the graph, or the plan refuses; whatever reads their result sees the new one.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct RecallSettings {
  bool flat = false;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("flat", flat, "the result is [B, D]; for memories of one row");
  }
};

// A copy of chunk `slot` of a state [C, B, M, D]: [B, M, D]. slot: i32 [1], or kNone for 0. With one chunk,
// declare the state as [B, M, D] (or [B, D] for one row) and read it as it is: that costs nothing.
ValueId recall(Graph& graph, ValueId state, ValueId slot, RecallSettings settings = {});

class Recall : public OpWith<Recall, RecallSettings> {
 public:
  static constexpr const char* kKind = "recall";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
};

// The chunk becomes the last M rows of its old ones followed by those of x. state: [C, B, M, D], or, with one
// chunk, [B, M, D] or [B, D] (M = 1); x: [B, T, D] or [B, D] (T = 1); slot: i32 [1], or kNone for 0. Returns
// the state.
ValueId remember(Graph& graph, ValueId state, ValueId x, ValueId slot);

class Remember : public OpWith<Remember, NoSettings> {
 public:
  static constexpr const char* kKind = "remember";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, true}}; }
  void run(const Run& run) const override;
};

struct AppendSettings {
  int64_t first_column = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("first_column", first_column, "first column of x that goes into the cache");
  }
};

// Rows [position, position + T) of a cache [B, S, W] become columns [first_column, first_column + W) of x:
// [B, T, X]. position: i32 [1]; rows beyond the cache are an Error. Returns the cache.
ValueId append(Graph& graph, ValueId cache, ValueId x, ValueId position, AppendSettings settings);

class Append : public OpWith<Append, AppendSettings> {
 public:
  static constexpr const char* kKind = "append";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, true}}; }
  void run(const Run& run) const override;
};

// Row `index` (i32 [1]) of every sequence of x: [B, T, D] -> [B, 1, D].
ValueId take_row(Graph& graph, ValueId x, ValueId index);

class TakeRow : public OpWith<TakeRow, NoSettings> {
 public:
  static constexpr const char* kKind = "take_row";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
