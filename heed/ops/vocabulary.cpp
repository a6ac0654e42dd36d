#include "heed/ops/vocabulary.h"

#include <limits>

#include "heed/kernels/dropout.h"

namespace heed::ops {

void expect_ids(const Signature& s) {
  expect(s.has(0), "ids (input 0) are missing");
  expect_dtype(s, 0, DType::kI32, "ids");
  const int rank = s.in(0).rank();
  expect(rank >= 1 && rank < Shape::kMaxRank,
         text("ids (input 0) need 1 to ", Shape::kMaxRank - 1, " dimensions, they are ", s.in(0).str()));
}

void check_ids(std::string_view op, const char* what, std::span<const int32_t> ids, int64_t V,
               Negative negative) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < V && (ids[i] >= 0 || negative == Negative::kIgnored)) continue;
    throw damaged_error(op, ": ", what, " ", ids[i], " at position ", i,
                        " is not in the vocabulary of V = ", V, " words");
  }
}

void expect_input_count(const Signature& s, size_t count) {
  expect(s.inputs.size() == count,
         text("takes ", count, " inputs, absent ones given as none; ", s.inputs.size(), " given"));
}

void expect_ascending(std::span<const int64_t> cutoffs) {
  expect(!cutoffs.empty(), "cutoffs must be given, the last being the size of the vocabulary");
  int64_t before = 0;
  for (int64_t cutoff : cutoffs) {
    expect(cutoff > before, text("cutoffs must be positive and ascend, ", cutoff, " follows ", before));
    before = cutoff;
  }
  expect(before <= std::numeric_limits<int32_t>::max(),
         text("ids have 32 bits, the vocabulary ends at ", before));
}

void expect_projection_of(Clusters clusters) {
  const std::span<const int64_t> of = clusters.projection_of;
  if (of.empty()) return;
  expect(of.size() == clusters.count(), text("projection_of has ", of.size(), " entries for ",
                                             clusters.count(), " clusters; give one per cluster"));
  for (int64_t i = 0; i <= std::ranges::max(of); ++i)
    expect(std::ranges::find(of, i) != of.end(), text("projection_of names no cluster for projection ", i));
  for (int64_t i : of) expect(i >= 0, text("projection_of counts from 0, an entry is ", i));
}

int64_t expect_clusters(const Signature& s, size_t first, Clusters clusters) {
  int64_t d = -1;
  for (size_t i = 0; i < clusters.tables(); ++i) {
    const size_t table = first + i;
    expect(s.has(table), text("table ", i, " (input ", table, ") is missing"));
    expect_dtype(s, table, DType::kF32, "the table");
    expect_rank(s, table, 2, "the table");
    const int64_t size = clusters.single_table ? clusters.vocabulary() : clusters.size(i);
    expect(s.in(table).dim(0) == size && s.in(table).dim(1) >= 1,
           text("table ", i, " (input ", table, ") needs ", size, " rows, it is ", s.in(table).str()));
  }
  for (size_t i = 0; i < clusters.count(); ++i) {
    const int64_t e = s.in(first + clusters.table(i)).dim(1);
    const size_t number = clusters.projection(i), projection = first + clusters.tables() + number;
    int64_t width = e;
    if (s.has(projection)) {
      expect_dtype(s, projection, DType::kF32, "the projection");
      expect_rank(s, projection, 2, "the projection");
      expect(s.in(projection).dim(1) == e && s.in(projection).dim(0) >= 1,
             text("projection ", number, " (input ", projection, ") needs shape [d, ", e, "], it is ",
                  s.in(projection).str()));
      width = s.in(projection).dim(0);
    }
    expect(d < 0 || d == width,
           text("cluster ", i, " has width ", width, " after its projection, those before it ", d));
    d = width;
  }
  return d;
}

int64_t widest_table(const Signature& s, size_t first, Clusters clusters) {
  int64_t widest = 0;
  for (size_t i = 0; i < clusters.tables(); ++i) widest = std::max(widest, s.in(first + i).dim(1));
  return widest;
}

std::vector<TensorType> gradients_of_tables(const Signature& s, size_t first, size_t so_far,
                                            Clusters clusters, bool want_tables, bool want_projections) {
  std::vector<TensorType> types;
  for (size_t i = 0; i < clusters.tables() + clusters.projections(); ++i) {
    const bool wanted = (i < clusters.tables() ? want_tables : want_projections) && s.has(first + i);
    types.push_back(wanted ? *s.inputs[first + i] : TensorType{0});
    if (!s.has(so_far + i)) continue;
    expect(wanted, text("a gradient so far (input ", so_far + i, ") is given, but no gradient is wanted"));
    expect_shape(s, so_far + i, types.back().shape, "the gradient so far");
  }
  return types;
}

void ClusterDropout::drop(int64_t first, int64_t count, int64_t width, float* rows) const {
  if (rng) kernels::dropout({count * width, rate, stream, rng, rows, rows, first * width});
}

void expect_cluster_dropout(const Signature& s, size_t rng, double rate) {
  expect(rate >= 0 && rate < 1, text("dropout must be in [0, 1), it is ", rate));
  if (!s.has(rng)) return;
  expect_type(s, rng, DType::kI32, {4}, "rng");
}

Groups Groups::carve(Carver& carver, int64_t N, Clusters clusters) {
  Groups g;
  g.begin = carver.take<int32_t>(static_cast<int64_t>(clusters.count()) + 1);
  g.rows = carver.take<int32_t>(N);
  g.ids = carver.take<int32_t>(N);
  return g;
}

void Groups::fill(std::span<const int32_t> all, Clusters clusters) const {
  // A counting sort that needs no second array: begin[i + 1] counts, then is the next free entry of cluster
  // i, and so ends as the start of the next cluster.
  const size_t m = clusters.count();
  std::fill(begin, begin + m + 1, 0);
  for (int32_t id : all) {
    if (id >= 0) ++begin[clusters.of(id) + 1];
  }
  int32_t next = 0;
  for (size_t i = 0; i < m; ++i) {
    const int32_t size = begin[i + 1];
    begin[i + 1] = next;
    next += size;
  }
  for (size_t row = 0; row < all.size(); ++row) {
    if (all[row] < 0) continue;
    const size_t cluster = clusters.of(all[row]);
    const int32_t at = begin[cluster + 1]++;
    rows[at] = static_cast<int32_t>(row);
    ids[at] = all[row] - static_cast<int32_t>(clusters.begin(cluster));
  }
}

namespace {

bool seen_before(const Gradients& g, size_t first, size_t i) {
  for (size_t earlier = first; earlier < i; ++earlier) {
    if (g.input(earlier) == g.input(i)) return true;
  }
  return false;
}

}  // namespace

std::vector<ValueId> sums_so_far(const Gradients& g, size_t first, size_t count) {
  std::vector<ValueId> sums;
  for (size_t i = first; i < first + count; ++i) {
    sums.push_back(!g.wants(i) || seen_before(g, first, i) ? kNone : g.partial(i));
  }
  return sums;
}

void set_sums(Gradients& g, size_t first, std::span<const ValueId> sums) {
  for (size_t i = first; i < first + sums.size(); ++i) {
    if (!g.wants(i)) continue;
    seen_before(g, first, i) ? g.add(i, sums[i - first]) : g.set(i, sums[i - first]);
  }
}

bool wants_any(const Gradients& g, size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i) {
    if (g.wants(i)) return true;
  }
  return false;
}

Shape with_last(const Shape& shape, int64_t last) {
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
  dims.push_back(last);
  return Shape(dims);
}

void expect_first(const Signature& s, size_t input) {
  expect_type(s, input, DType::kI32, {1}, "the first position");
}

int64_t first_position(std::string_view op, const Run& r, size_t input, int64_t T, int64_t P) {
  const int64_t first = r.has(input) ? r.in(input).i32()[0] : 0;
  if (first < 0 || first + T > P) {
    throw usage_error(op, ": positions ", first, " to ", first + T - 1,
                      " asked for, the table of positions has ", P, " rows");
  }
  return first;
}

}  // namespace heed::ops
