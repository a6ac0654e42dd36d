#include "heed/ops/packed.h"

#include "heed/kernels/panels.h"
#include "heed/ops/vocabulary.h"

namespace heed::ops {
namespace {

void expect_panels(const Signature& s, int64_t in, int64_t out) {
  expect(out >= 1, text("a packed weight needs at least one column, it has ", out));
  expect_rank(s, 1, 3, "panels");
  expect_shape(s, 1, packed_shape(in, out), "panels");
}

class PackedLinear : public OpWith<PackedLinear, PackedLinearSettings> {
 public:
  static constexpr const char* kKind = "packed_linear";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override;
  void run(const Run& run) const override;
};

class PackedEmbedding : public OpWith<PackedEmbedding, PackedEmbeddingSettings> {
 public:
  static constexpr const char* kKind = "packed_embedding";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

Shape packed_shape(int64_t in, int64_t out) { return {kernels::panel_count(out), in, kernels::kPanelWidth}; }

ValueId packed_linear(Graph& graph, ValueId x, ValueId panels, ValueId bias, ValueId residual,
                      PackedLinearSettings settings) {
  return graph.add_one(make<PackedLinear>(settings), {x, panels, bias, residual});
}

std::vector<TensorType> PackedLinear::infer(const Signature& s) const {
  expect_input_count(s, 4);
  expect_inputs(s, 2, 4);
  expect_floats(s);
  expect(s.in(0).rank() >= 1, "x needs at least one dimension");
  expect_panels(s, s.in(0).dim(-1), settings_.columns);
  const TensorType y{s.in(0).with_dim(-1, settings_.columns)};
  if (s.has(2)) expect_shape(s, 2, {settings_.columns}, "bias");
  if (s.has(3)) expect_shape(s, 3, y.shape, "residual");
  return {y};
}

Cost PackedLinear::cost(const Signature& s) const {
  return {2.0 * static_cast<double>(s.in(0).rows()) * static_cast<double>(s.in(0).dim(-1)) *
              static_cast<double>(settings_.columns),
          static_cast<double>(s.bytes())};
}

std::vector<Alias> PackedLinear::aliases(const Signature&) const {
  // As in Linear: an activation comes between the product and the residual.
  if (settings_.activation == Activation::kNone) return {{0, 3, false}};
  return {};
}

void PackedLinear::run(const Run& r) const {
  const Shape& x = r.in(0).shape();
  kernels::panel_product({x.rows(), x.dim(-1), settings_.columns, r.in(0).f32(), r.in(1).f32(),
                          settings_.activation, r.in_or_null(2), r.in_or_null(3), r.out(0).f32()});
}

ValueId packed_embedding(Graph& graph, ValueId ids, ValueId panels, ValueId positions, ValueId first,
                         PackedEmbeddingSettings settings) {
  return graph.add_one(make<PackedEmbedding>(settings), {ids, panels, positions, first});
}

std::vector<TensorType> PackedEmbedding::infer(const Signature& s) const {
  expect_input_count(s, 4);
  expect_inputs(s, 2, 4);
  expect_dtype(s, 0, DType::kI32, "ids");
  expect_rank(s, 0, 2, "ids");
  expect_rank(s, 1, 3, "panels");
  const int64_t D = s.in(1).dim(1);
  expect_panels(s, D, settings_.vocabulary);
  if (s.has(2)) {
    expect_rank(s, 2, 2, "positions");
    expect(s.in(2).dim(1) == D && s.in(2).dim(0) >= s.in(0).dim(1),
           text("positions (input 2) need at least ", s.in(0).dim(1), " rows of width ", D, ", they are ",
                s.in(2).str()));
  }
  if (s.has(3)) {
    expect(s.has(2), "a first position is given, but no positions");
    expect_first(s, 3);
  }
  return {{{s.in(0).dim(0), s.in(0).dim(1), D}}};
}

Cost PackedEmbedding::cost(const Signature& s) const {
  return {0, 8.0 * static_cast<double>(s.out(0).elements())};
}

void PackedEmbedding::run(const Run& r) const {
  const int64_t T = r.in(0).shape().dim(1), D = r.in(1).shape().dim(1);
  check_ids(kKind, "id", r.in(0).ints(), settings_.vocabulary, Negative::kRefused);
  const float* positions = r.in_or_null(2);
  if (positions) positions += first_position(kKind, r, 3, T, r.in(2).shape().dim(0)) * D;
  kernels::panel_columns({r.in(0).shape().elements(), D, r.in(0).i32(), r.in(1).f32(),
                          static_cast<float>(settings_.scale), positions, T, r.out(0).f32()});
}

std::vector<OpEntry> packed_ops() { return {entry<PackedLinear>(), entry<PackedEmbedding>()}; }

}  // namespace heed::ops
