#include "heed/ops/constant.h"

#include <algorithm>

namespace heed::ops {
namespace {

class Constant : public OpWith<Constant, ConstantSettings> {
 public:
  static constexpr const char* kKind = "constant";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId constant(Graph& graph, std::vector<int64_t> shape, double value) {
  return graph.add_one(make<Constant>({std::move(shape), value}), {});
}

std::vector<TensorType> Constant::infer(const Signature& s) const {
  expect_inputs(s, 0, 0);
  expect(settings_.shape.size() <= Shape::kMaxRank, text("at most ", Shape::kMaxRank, " dimensions"));
  return {{Shape(settings_.shape)}};
}

void Constant::run(const Run& r) const {
  const auto all = r.out(0).floats();
  std::fill(all.begin(), all.end(), static_cast<float>(settings_.value));
}

std::vector<OpEntry> constant_ops() { return {entry<Constant>()}; }

}  // namespace heed::ops
