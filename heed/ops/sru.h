// The SRU recurrence as an op. The matrix products that make u from a layer's input are ops before it.
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
          "the second half of the units walks from the last step to the first");
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
// h: [B, T, D]; c_last: [B, D], the state after the last step walked (step 0 for the second half when
// bidirectional).
struct SruOutputs {
  ValueId h, c_last;
};
SruOutputs sru(Graph& graph, const SruInputs& inputs, SruSettings settings = {});

class Sru : public OpWith<Sru, SruSettings> {
 public:
  static constexpr const char* kKind = "sru";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 1, false}, {1, 4, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

// Inputs those of sru, then c (the states), dh and dc_last, either of which may be absent (zeros); outputs
// du, dx (only where x is given), dv, dbias, dc0.
class SruBackward : public OpWith<SruBackward, SruSettings> {
 public:
  static constexpr const char* kKind = "sru_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
