#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct EmbeddingSettings {
  double scale = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("scale", scale, "the table's rows are multiplied by it, positions are not");
  }
};

// y[..., t] = scale * table[ids[..., t]] + positions[first + t]. ids: i32 [..., T], table: [V, D], positions:
// [P, D] or kNone, first: i32 [1] or kNone (0). Throws at run time for an id outside the table and for
// first + T > P.
ValueId embedding(Graph& graph, ValueId ids, ValueId table, ValueId positions = kNone, ValueId first = kNone,
                  EmbeddingSettings settings = {});

std::vector<OpEntry> embedding_ops();

}  // namespace heed::ops
