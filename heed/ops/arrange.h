// Moving rows and columns about: concat and slice, each other's gradient.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct ConcatSettings {
  int64_t axis = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("axis", axis, "dimension along which values are joined");
  }
};

ValueId concat(Graph& graph, const std::vector<ValueId>& xs, int64_t axis);

class Concat : public OpWith<Concat, ConcatSettings> {
 public:
  static constexpr const char* kKind = "concat";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct SliceSettings {
  int64_t axis = 0;
  int64_t begin = 0;
  int64_t end = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("axis", axis, "dimension that is cut");
    field("begin", begin, "first index kept");
    field("end", end, "one past the last index kept");
  }
};

ValueId slice(Graph& graph, ValueId x, SliceSettings settings);

class Slice : public OpWith<Slice, SliceSettings> {
 public:
  static constexpr const char* kKind = "slice";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct SliceGradientSettings : SliceSettings {
  int64_t size = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    SliceSettings::visit(field);
    field("size", size, "of the dimension before the cut");
  }
};

// dy in its place, zeros around it.
class SliceGradient : public OpWith<SliceGradient, SliceGradientSettings> {
 public:
  static constexpr const char* kKind = "slice_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
