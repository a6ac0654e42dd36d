#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct EmbeddingSettings {
  double scale = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("scale", scale, "the table's rows are multiplied by it, positions are not");
  }
};

// y[..., t] = scale * table[ids[..., t]] + positions[first + t]. ids: i32 [..., T], table: [V, D], positions:
// [P, D] or kNone, first: i32 [1] or kNone (0). An id outside the table and a first + T > P are Errors when
// the node runs.
ValueId embedding(Graph& graph, ValueId ids, ValueId table, ValueId positions = kNone, ValueId first = kNone,
                  EmbeddingSettings settings = {});

class Embedding : public OpWith<Embedding, EmbeddingSettings> {
 public:
  static constexpr const char* kKind = "embedding";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
  ValueId make_again(Graph& graph, int node, size_t output) const override {
    return run_again(graph, node, output);
  }
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

}  // namespace heed::ops
