#include "heed/ops/embedding.h"

#include "heed/kernels/embedding.h"
#include "heed/ops/vocabulary.h"

namespace heed::ops {
namespace {

// Rows looked up, not the whole table.
Cost lookup_cost(int64_t elements) { return {0, 8.0 * static_cast<double>(elements)}; }

class Embedding : public OpWith<Embedding, EmbeddingSettings> {
 public:
  static constexpr const char* kKind = "embedding";
  static constexpr bool kRunAgain = true;
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct EmbeddingGradientSettings {
  int64_t rows = 0;
  double scale = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("rows", rows, "of the table");
    field("scale", scale, "of the forward op");
  }
};

// Inputs ids, dy and optionally the table's gradient so far (a softmax tied to the table has filled it
// already), in whose memory the sum is made; output dtable: [rows, D].
class EmbeddingGradient : public OpWith<EmbeddingGradient, EmbeddingGradientSettings> {
 public:
  static constexpr const char* kKind = "embedding_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 2, true}}; }
  void run(const Run& run) const override;
};

struct PositionGradientSettings {
  int64_t rows = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("rows", rows, "of the table of positions");
  }
};

// Inputs dy: [..., T, D] and optionally first: i32 [1]; output [rows, D]: dy summed over the batch in rows
// first to first + T - 1, 0 in the others.
class PositionGradient : public OpWith<PositionGradient, PositionGradientSettings> {
 public:
  static constexpr const char* kKind = "position_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId embedding(Graph& graph, ValueId ids, ValueId table, ValueId positions, ValueId first,
                  EmbeddingSettings settings) {
  return graph.add_one(make<Embedding>(settings), {ids, table, positions, first});
}

std::vector<TensorType> Embedding::infer(const Signature& s) const {
  expect_inputs(s, 2, 4);
  expect_ids(s);
  expect_dtype(s, 1, DType::kF32, "the table");
  expect_rank(s, 1, 2, "the table");
  expect(s.in(1).dim(0) >= 1 && s.in(1).dim(1) >= 1, text("the table (input 1) is empty: ", s.in(1).str()));
  if (s.has(2)) {
    expect_dtype(s, 2, DType::kF32, "positions");
    expect_rank(s, 2, 2, "positions");
    expect(s.in(2).dim(1) == s.in(1).dim(1) && s.in(2).dim(0) >= s.in(0).dim(-1),
           text("positions (input 2) need at least ", s.in(0).dim(-1), " rows of width ", s.in(1).dim(1),
                ", they are ", s.in(2).str()));
  }
  if (s.has(3)) {
    expect(s.has(2), "a first position is given, but no positions");
    expect_first(s, 3);
  }
  return {{with_last(s.in(0), s.in(1).dim(1))}};
}

Cost Embedding::cost(const Signature& s) const { return lookup_cost(s.out(0).elements()); }

void Embedding::run(const Run& r) const {
  const int64_t T = r.in(0).shape().dim(-1), D = r.in(1).shape().dim(1);
  check_ids(kKind, "id", r.in(0).ints(), r.in(1).shape().dim(0), Negative::kRefused);
  const float* positions = r.in_or_null(2);
  if (positions) positions += first_position(kKind, r, 3, T, r.in(2).shape().dim(0)) * D;
  kernels::gather_rows({r.in(0).shape().elements(), D, r.in(0).i32(), static_cast<float>(settings_.scale),
                        r.in(1).f32(), positions, T, r.out(0).f32()});
}

void Embedding::gradient(Gradients& g) const {
  const ValueId dy = g.output_gradient(0);
  if (g.wants(1)) {
    const EmbeddingGradientSettings settings{g.graph().shape(g.input(1)).dim(0), settings_.scale};
    g.set(1, g.graph().add_one(make<EmbeddingGradient>(settings), {g.input(0), dy, g.partial(1)}));
  }
  if (g.wants(2)) {
    const PositionGradientSettings settings{g.graph().shape(g.input(2)).dim(0)};
    g.add(2, g.graph().add_one(make<PositionGradient>(settings), {dy, g.input(3)}));
  }
}

std::vector<TensorType> EmbeddingGradient::infer(const Signature& s) const {
  expect_inputs(s, 2, 3);
  expect_ids(s);
  expect_dtype(s, 1, DType::kF32, "dy");
  expect(s.in(1).rank() >= 2 && s.in(1) == with_last(s.in(0), s.in(1).dim(-1)),
         text("ids ", s.in(0).str(), " and dy ", s.in(1).str(), " do not fit"));
  expect(settings_.rows >= 1, text("rows must be positive, it is ", settings_.rows));
  const TensorType table{{settings_.rows, s.in(1).dim(-1)}};
  if (s.has(2)) expect_shape(s, 2, table.shape, "the gradient so far");
  return {table};
}

Cost EmbeddingGradient::cost(const Signature& s) const {
  const Cost rows = lookup_cost(s.in(1).elements());
  return {0, 1.5 * rows.bytes + (s.has(2) ? 0 : static_cast<double>(s.outputs[0].bytes()))};
}

void EmbeddingGradient::run(const Run& r) const {
  check_ids(kKind, "id", r.in(0).ints(), settings_.rows, Negative::kRefused);
  float* const dtable = r.out(0).f32();
  if (!r.has(2)) kernels::clear({r.out(0).shape().elements(), dtable});
  kernels::scatter_rows({r.in(0).shape().elements(), r.in(1).shape().dim(-1), r.in(0).i32(),
                         static_cast<float>(settings_.scale), r.in(1).f32(), dtable, true});
}

std::vector<TensorType> PositionGradient::infer(const Signature& s) const {
  expect_inputs(s, 1, 2);
  expect_dtype(s, 0, DType::kF32, "dy");
  expect(s.in(0).rank() >= 2, text("dy (input 0) needs at least 2 dimensions, it is ", s.in(0).str()));
  if (s.has(1)) expect_first(s, 1);
  expect(settings_.rows >= s.in(0).dim(-2),
         text("dy ", s.in(0).str(), " has more positions than the table's ", settings_.rows));
  return {{{settings_.rows, s.in(0).dim(-1)}}};
}

void PositionGradient::run(const Run& r) const {
  const Shape& dy = r.in(0).shape();
  const int64_t T = dy.dim(-2), D = dy.dim(-1), P = settings_.rows;
  const int64_t first = first_position(kKind, r, 1, T, P);
  float* const y = r.out(0).f32();
  kernels::clear({first * D, y});
  kernels::batch_sum({T * D == 0 ? 0 : dy.elements() / (T * D), T * D, r.in(0).f32(), y + first * D});
  kernels::clear({(P - first - T) * D, y + (first + T) * D});
}

std::vector<OpEntry> embedding_ops() {
  return {entry<Embedding>(), entry<EmbeddingGradient>(), entry<PositionGradient>()};
}

}  // namespace heed::ops
