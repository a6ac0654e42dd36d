#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct SinusoidSettings {
  int64_t length = 1;
  int64_t width = 2;
  int64_t clamp = -1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("length", length, "rows; row k is for distance length - 1 - k");
    field("width", width, "columns: sines, then as many cosines");
    field("clamp", clamp, "distances beyond this count as this, -1 for none");
  }
};

// Transformer-XL's encoding of distances (Dai and others 2019). Output [length, width].
ValueId sinusoid(Graph& graph, SinusoidSettings settings);

std::vector<OpEntry> sinusoid_ops();

}  // namespace heed::ops
