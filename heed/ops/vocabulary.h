// Shared by the ops over a vocabulary: checks of ids, clusters of an adaptive vocabulary, sums of gradients.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "heed/ops/define.h"

namespace heed::ops {

// Throws if input 0 is not i32 ids: [..., T].
void expect_ids(const Signature& s);

// Ids are known only at run time. Throws for one outside the vocabulary, naming `op`, the id and V.
enum class Negative { kRefused, kIgnored };
void check_ids(std::string_view op, const char* what, std::span<const int32_t> ids, int64_t V,
               Negative negative);

// The position of the first token: run-time input `input` (i32 [1]), 0 if absent. Throws if T positions from
// there are not all in a table of P.
void expect_first(const Signature& s, size_t input);
int64_t first_position(std::string_view op, const Run& r, size_t input, int64_t T, int64_t P);

// An adaptive vocabulary (Baevski and Auli 2019): ids sorted by frequency, cut into m clusters at `cutoffs`,
// the last of which is V. Each cluster has a table [size, e_i] and may have a projection [d, e_i]. With
// single_table they are slices of one table [V, e]. Each table has its own projection, unless projection_of
// gives the projection of every cluster.
struct Clusters {
  std::span<const int64_t> cutoffs;
  bool single_table;
  std::span<const int64_t> projection_of = {};

  size_t count() const { return cutoffs.size(); }
  size_t tables() const { return single_table ? 1 : count(); }
  size_t projections() const {
    return projection_of.empty() ? tables() : static_cast<size_t>(std::ranges::max(projection_of)) + 1;
  }
  int64_t begin(size_t i) const { return i == 0 ? 0 : cutoffs[i - 1]; }
  int64_t size(size_t i) const { return cutoffs[i] - begin(i); }
  int64_t vocabulary() const { return cutoffs.back(); }
  // Which table holds cluster i, and from which row on.
  size_t table(size_t i) const { return single_table ? 0 : i; }
  int64_t table_row(size_t i) const { return single_table ? begin(i) : 0; }
  size_t projection(size_t i) const {
    return projection_of.empty() ? table(i) : static_cast<size_t>(projection_of[i]);
  }
  size_t of(int64_t id) const {
    return static_cast<size_t>(std::upper_bound(cutoffs.begin(), cutoffs.end(), id) - cutoffs.begin());
  }
};

void expect_ascending(std::span<const int64_t> cutoffs);
// Throws if projection_of, unless empty, does not give every cluster a projection and every projection a
// cluster.
void expect_projection_of(Clusters clusters);
// Throws if tables and projections do not match the clusters; inputs from `first` on are the tables, then
// the projections. Returns d.
int64_t expect_clusters(const Signature& s, size_t first, Clusters clusters);
// The largest width e_i of those tables.
int64_t widest_table(const Signature& s, size_t first, Clusters clusters);
// The gradients of those tables and projections, empty if not wanted or absent; inputs from `so_far` on
// are the sums they are added to, if given.
std::vector<TensorType> gradients_of_tables(const Signature& s, size_t first, size_t so_far,
                                            Clusters clusters, bool want_tables, bool want_projections);

// Dropout between the tables and the projections of clusters: rows of one cluster, as many numbers as the
// table is wide, one stream (kernels/dropout.h).
struct ClusterDropout {
  float rate = 0;
  uint32_t stream = 0;
  const int32_t* rng = nullptr;  // null: nothing is dropped

  ClusterDropout of(size_t cluster) const { return {rate, stream + static_cast<uint32_t>(cluster), rng}; }
  // In place, for rows `first` to `first` + count - 1 of those the cluster has.
  void drop(int64_t first, int64_t count, int64_t width, float* rows) const;
};
// Throws for an invalid rate or, if given, an invalid input `rng`.
void expect_cluster_dropout(const Signature& s, size_t rng, double rate);
// Of the first cluster.
template <class Settings>
ClusterDropout cluster_dropout(const Settings& settings, const Run& r, size_t rng) {
  return {static_cast<float>(settings.dropout), static_cast<uint32_t>(settings.stream),
          settings.dropout > 0 && r.has(rng) ? r.in(rng).i32() : nullptr};
}

// For nodes with a fixed list of inputs, absent ones given as none.
void expect_input_count(const Signature& s, size_t count);

// Rows by the cluster of their id, in order within each; negative ids are left out.
struct Groups {
  int32_t* begin;  // [m + 1]: cluster i has entries begin[i] to begin[i + 1] - 1
  int32_t* rows;   // [N]
  int32_t* ids;    // [N], counted from the start of the cluster

  static Groups carve(Carver& carver, int64_t N, Clusters clusters);
  void fill(std::span<const int32_t> all, Clusters clusters) const;
  int64_t count(size_t i) const { return begin[i + 1] - begin[i]; }
};

// Gradients of inputs `first` to `first` + count - 1 summed so far, for a node that adds to them in place;
// and its results. An input that is the same value as an earlier one cannot share its memory and is added
// separately.
std::vector<ValueId> sums_so_far(const Gradients& g, size_t first, size_t count);
void set_sums(Gradients& g, size_t first, std::span<const ValueId> sums);
// Whether any of these inputs wants its gradient.
bool wants_any(const Gradients& g, size_t first, size_t count);

// [dims of a..., last]
Shape with_last(const Shape& shape, int64_t last);

}  // namespace heed::ops
