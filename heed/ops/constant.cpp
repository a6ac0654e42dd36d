#include "heed/ops/constant.h"

#include <algorithm>

namespace heed::ops {

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

}  // namespace heed::ops
