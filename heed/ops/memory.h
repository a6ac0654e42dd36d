// The states of a model between runs: segments of memory, states of recurrent cells, caches of keys and
// values. None has a gradient: a model does not learn through earlier runs.
//
// remember and append write in place (required aliases). Nodes that read the old content must come earlier
// in the graph, or the plan throws; nodes that read their result see the new one.
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
// declare the state as [B, M, D] (or [B, D] for one row) and read it directly: that costs nothing.
ValueId recall(Graph& graph, ValueId state, ValueId slot, RecallSettings settings = {});

// The chunk becomes the last M rows of its old ones followed by those of x. state: [C, B, M, D], or, with one
// chunk, [B, M, D] or [B, D] (M = 1); x: [B, T, D] or [B, D] (T = 1); slot: i32 [1], or kNone for 0. Returns
// the state.
ValueId remember(Graph& graph, ValueId state, ValueId x, ValueId slot);

struct AppendSettings {
  int64_t first_column = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("first_column", first_column, "first column of x that goes into the cache");
  }
};

// Rows [position, position + T) of a cache [B, S, W] become columns [first_column, first_column + W) of x:
// [B, T, X]. position: i32 [1]; throws for rows beyond the cache. Returns the cache.
ValueId append(Graph& graph, ValueId cache, ValueId x, ValueId position, AppendSettings settings);

// Row `index` (i32 [1]) of every sequence of x: [B, T, D] -> [B, 1, D].
ValueId take_row(Graph& graph, ValueId x, ValueId index);

std::vector<OpEntry> memory_ops();

}  // namespace heed::ops
