#include "heed/ops/accumulate.h"

#include "heed/kernels/elementwise.h"

namespace heed::ops {
namespace {

class Accumulate : public OpWith<Accumulate, AccumulateSettings> {
 public:
  static constexpr const char* kKind = "accumulate";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, true}}; }
  void run(const Run& run) const override;
};

}  // namespace

ValueId accumulate(Graph& graph, ValueId sum, ValueId x, ValueId chunk, AccumulateSettings settings) {
  return graph.add_one(make<Accumulate>(settings), {sum, x, chunk});
}

std::vector<TensorType> Accumulate::infer(const Signature& s) const {
  expect_inputs(s, 3, 3);
  expect_dtype(s, 0, DType::kF32, "the sum");
  expect_type(s, 1, DType::kF32, s.in(0), "x");
  expect_type(s, 2, DType::kI32, {1}, "the chunk");
  return {*s.inputs[0]};
}

void Accumulate::run(const Run& r) const {
  kernels::scale({r.out(0).shape().elements(), static_cast<float>(settings_.factor), nullptr, r.in(1).f32(),
                  r.out(0).f32(), r.in(2).i32()[0] > 0});
}

std::vector<OpEntry> accumulate_ops() { return {entry<Accumulate>()}; }

}  // namespace heed::ops
