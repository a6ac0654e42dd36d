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

class Sinusoid : public OpWith<Sinusoid, SinusoidSettings> {
 public:
  static constexpr const char* kKind = "sinusoid";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
