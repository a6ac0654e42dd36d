// A relaxed draw of one of n choices (Jang and others 2017; Maddison and others 2017), which mixes a layer of
// a supernet.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct GumbelSoftmaxSettings {
  int64_t stream = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("stream", stream, "number of this op's stream of random numbers");
  }
};

// m = softmax((logits + G) / temperature), G = -log(-log U). logits: [n], temperature: [1], or kNone for 1,
// rng: i32 [4], seed and step, or kNone for no noise. U of choice i is word i % 4 of Philox4x32-10 at counter
// {i / 4, stream, step}.
ValueId gumbel_softmax(Graph& graph, ValueId logits, ValueId temperature, ValueId rng,
                       GumbelSoftmaxSettings settings = {});

std::vector<OpEntry> gumbel_softmax_ops();

}  // namespace heed::ops
