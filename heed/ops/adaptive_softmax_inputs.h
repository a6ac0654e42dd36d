// The inputs that the loss of an adaptive softmax, its gradient and its log-probabilities share.
#pragma once

#include "heed/ops/adaptive_softmax.h"
#include "heed/ops/vocabulary.h"

namespace heed::ops {

// Indices of the inputs. adaptive_log_probabilities has no targets: `shift` is 1 less there.
inline constexpr size_t kX = 0, kTargets = 1;
struct AdaptivePlaces {
  size_t tables, projections;  // how many
  size_t shift;

  explicit AdaptivePlaces(Clusters clusters, size_t without_targets = 0)
      : tables(clusters.tables()), projections(clusters.projections()), shift(without_targets) {}
  size_t bias() const { return 2 - shift; }
  size_t cluster_weight() const { return 3 - shift; }
  size_t cluster_bias() const { return 4 - shift; }
  size_t table(size_t i) const { return 5 - shift + i; }
  size_t projection(size_t i) const { return table(tables + i); }
  size_t count() const { return projection(projections); }  // without rng
  // Only for the loss.
  size_t rng() const { return count(); }
  // Only for the gradient.
  size_t dlosses() const { return count(); }
  size_t so_far(size_t i) const { return count() + 1 + i; }  // tables, then projections
  size_t gradient_rng() const { return so_far(tables + projections); }
};

template <class Settings>
Clusters clusters_of(const Settings& settings) {
  return {settings.cutoffs, settings.single_table, settings.projection_of};
}

// The column of the head for a cluster.
int64_t entry_of(Clusters clusters, ClusterOrder order, size_t cluster);
// Throws if the inputs do not match the clusters.
void expect_adaptive(const Signature& s, Clusters clusters, AdaptivePlaces at);
double head_flops(const Signature& s, Clusters clusters, AdaptivePlaces at);
// The inputs as a node takes them; without targets there is no rng either.
std::vector<ValueId> flatten(const AdaptiveSoftmaxInputs& in, ValueId targets);

}  // namespace heed::ops
