#include "heed/ops/adaptive_softmax_inputs.h"

namespace heed::ops {

int64_t entry_of(Clusters clusters, ClusterOrder order, size_t cluster) {
  const int64_t shortlist = clusters.size(0), entries = static_cast<int64_t>(clusters.count()) - 1;
  const int64_t i = static_cast<int64_t>(cluster);
  return order == ClusterOrder::kForward ? shortlist + i - 1 : shortlist + entries - i;
}

void expect_adaptive(const Signature& s, Clusters clusters, AdaptivePlaces at) {
  expect_ascending(clusters.cutoffs);
  expect_projection_of(clusters);
  const int64_t d = expect_clusters(s, at.table(0), clusters);
  expect(s.has(kX), "x (input 0) is missing");
  expect_dtype(s, kX, DType::kF32, "x");
  expect(s.in(kX).rank() >= 1 && s.in(kX).dim(-1) == d,
         text("x ", s.in(kX).str(), " needs the tables' width ", d));
  const int64_t entries = static_cast<int64_t>(clusters.count()) - 1;
  const auto optional = [&](size_t input, const Shape& shape, const char* meaning) {
    if (!s.has(input)) return;
    expect_type(s, input, DType::kF32, shape, meaning);
  };
  expect(entries == 0 || s.has(at.cluster_weight()),
         text(entries + 1, " clusters need a cluster_weight (input ", at.cluster_weight(), ")"));
  optional(at.bias(), {clusters.vocabulary()}, "bias");
  optional(at.cluster_weight(), {entries, s.in(at.table(0)).dim(1)}, "cluster_weight");
  optional(at.cluster_bias(), {entries}, "cluster_bias");
}

double head_flops(const Signature& s, Clusters clusters, AdaptivePlaces at) {
  const int64_t columns = clusters.size(0) + static_cast<int64_t>(clusters.count()) - 1,
                e = s.in(at.table(0)).dim(1);
  const size_t of_head = at.projection(clusters.projection(0));
  const int64_t projection = s.has(of_head) ? s.in(of_head).elements() : 0;
  return 2.0 * static_cast<double>(s.in(kX).rows()) * static_cast<double>(columns * e + projection);
}

std::vector<ValueId> flatten(const AdaptiveSoftmaxInputs& in, ValueId targets) {
  std::vector<ValueId> all = {in.x};
  if (targets) all.push_back(targets);
  all.insert(all.end(), {in.bias, in.cluster_weight, in.cluster_bias});
  all.insert(all.end(), in.tables.begin(), in.tables.end());
  all.insert(all.end(), in.projections.begin(), in.projections.end());
  if (in.projections.empty()) all.resize(all.size() + in.tables.size(), kNone);
  if (targets) all.push_back(in.rng);
  return all;
}

}  // namespace heed::ops
