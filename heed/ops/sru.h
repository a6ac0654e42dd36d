// The SRU recurrence as an op. The matrix products that compute u from a layer's input are separate ops.
#pragma once

#include "heed/kernels/activation.h"
#include "heed/ops/define.h"

namespace heed::ops {

struct SruSettings {
  int64_t slots = 3;
  bool skip = true;
  double rescale = 1;
  Activation activation = Activation::kNone;
  bool bidirectional = false;
  bool keep_states = false;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("slots", slots, "vectors of width D in u: 3, or 4 with a projected skip");
    field("skip", skip, "whether h has a highway past the recurrence: x, or slot 3 of u");
    field("rescale", rescale, "constant factor of x; a projected skip has none");
    field("activation", activation, "of the state before the reset gate: none or tanh");
    field("bidirectional", bidirectional,
          "the second half of the units runs from the last step to the first");
    field("keep_states", keep_states, "a third output holds the state after every step");
  }
};

// u: [B, T, slots * D] with candidate, forget, reset (and skip) side by side; x: [B, T, D], given exactly
// with a skip of 3 slots; v and bias: [2 * D], forget then reset; c0: [B, D] or kNone (zeros); mask: [B, D]
// or kNone (ones), the scaled dropout mask that all steps share; padding: i32 [B, T] or kNone, 1 where a step
// is padding: c stays, h is 0.
struct SruInputs {
  ValueId u, x = kNone, v, bias, c0 = kNone, mask = kNone, padding = kNone;
};
// h: [B, T, D]; c_last: [B, D], the state after the last step (step 0 for the second half when
// bidirectional).
struct SruOutputs {
  ValueId h, c_last;
};
SruOutputs sru(Graph& graph, const SruInputs& inputs, SruSettings settings = {});

std::vector<OpEntry> sru_ops();

}  // namespace heed::ops
