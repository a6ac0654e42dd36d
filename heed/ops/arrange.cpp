#include "heed/ops/arrange.h"

#include <cstring>

#include "heed/base/threads.h"

namespace heed::ops {
namespace {

// Copies `rows` runs of `bytes`, each side with its own stride.
void copy_rows(int64_t rows, int64_t bytes, const void* from, int64_t from_step, void* to, int64_t to_step) {
  if (bytes == 0) return;
  parallel_range(rows, threads_for(0.1 * static_cast<double>(rows * bytes)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_step, static_cast<const char*>(from) + row * from_step,
                  static_cast<size_t>(bytes));
    }
  });
}

void check_axis(const Shape& shape, int64_t axis) {
  expect(axis >= 0 && axis < shape.rank(),
         text("axis ", axis, " of a value with ", shape.rank(), " dimensions"));
}

// Bytes of one index of `axis`, with all inner dimensions.
int64_t step(const Tensor& t, int64_t axis) {
  return t.shape().elements_after(static_cast<int>(axis)) * size_of(t.type.dtype);
}

class Concat : public OpWith<Concat, ConcatSettings> {
 public:
  static constexpr const char* kKind = "concat";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

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

// dy at its offset, zeros around it.
class SliceGradient : public OpWith<SliceGradient, SliceGradientSettings> {
 public:
  static constexpr const char* kKind = "slice_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId concat(Graph& graph, const std::vector<ValueId>& xs, int64_t axis) {
  return graph.add_one(make<Concat>({axis}), xs);
}

std::vector<TensorType> Concat::infer(const Signature& s) const {
  expect(!s.inputs.empty(), "needs at least one value");
  expect_inputs(s, s.inputs.size(), s.inputs.size());
  check_axis(s.in(0), settings_.axis);
  const int axis = static_cast<int>(settings_.axis);
  int64_t size = 0;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    expect(s.in(i).rank() == s.in(0).rank() && s.in(i).with_dim(axis, 0) == s.in(0).with_dim(axis, 0) &&
               s.inputs[i]->dtype == s.inputs[0]->dtype,
           text("values differ in more than axis ", axis, ": ", s.in(0).str(), " and ", s.in(i).str()));
    size += s.in(i).dim(axis);
  }
  return {{s.in(0).with_dim(axis, size), s.inputs[0]->dtype}};
}

void Concat::run(const Run& r) const {
  const Tensor& y = r.out(0);
  const int axis = static_cast<int>(settings_.axis);
  char* to = static_cast<char*>(y.data);
  for (const Tensor& x : r.inputs) {
    const int64_t bytes = x.shape().dim(axis) * step(x, axis);
    copy_rows(y.shape().elements_before(axis), bytes, x.data, bytes, to, y.shape().dim(axis) * step(y, axis));
    to += bytes;
  }
}

void Concat::gradient(Gradients& g) const {
  int64_t begin = 0;
  for (size_t i = 0; g.input(i); ++i) {
    const int64_t end = begin + g.graph().shape(g.input(i)).dim(static_cast<int>(settings_.axis));
    if (g.wants(i)) g.add(i, slice(g.graph(), g.output_gradient(0), {settings_.axis, begin, end}));
    begin = end;
  }
}

ValueId slice(Graph& graph, ValueId x, SliceSettings settings) {
  return graph.add_one(make<Slice>(settings), {x});
}

std::vector<TensorType> Slice::infer(const Signature& s) const {
  expect_inputs(s, 1, 1);
  check_axis(s.in(0), settings_.axis);
  const int axis = static_cast<int>(settings_.axis);
  expect(0 <= settings_.begin && settings_.begin <= settings_.end && settings_.end <= s.in(0).dim(axis),
         text("[", settings_.begin, ", ", settings_.end, ") does not lie within dimension ", axis, " of ",
              s.in(0).str()));
  return {{s.in(0).with_dim(axis, settings_.end - settings_.begin), s.inputs[0]->dtype}};
}

void Slice::run(const Run& r) const {
  const Tensor& x = r.in(0);
  const int axis = static_cast<int>(settings_.axis);
  const int64_t bytes = (settings_.end - settings_.begin) * step(x, axis);
  copy_rows(x.shape().elements_before(axis), bytes,
            static_cast<char*>(x.data) + settings_.begin * step(x, axis), x.shape().dim(axis) * step(x, axis),
            r.out(0).data, bytes);
}

void Slice::gradient(Gradients& g) const {
  SliceGradientSettings settings;
  static_cast<SliceSettings&>(settings) = settings_;
  settings.size = g.graph().shape(g.input(0)).dim(static_cast<int>(settings_.axis));
  g.add(0, g.graph().add_one(make<SliceGradient>(settings), {g.output_gradient(0)}));
}

std::vector<TensorType> SliceGradient::infer(const Signature& s) const {
  expect_inputs(s, 1, 1);
  check_axis(s.in(0), settings_.axis);
  const int axis = static_cast<int>(settings_.axis);
  expect(s.in(0).dim(axis) == settings_.end - settings_.begin && settings_.begin >= 0 &&
             settings_.end <= settings_.size,
         "the slice does not fit");
  return {{s.in(0).with_dim(axis, settings_.size), s.inputs[0]->dtype}};
}

void SliceGradient::run(const Run& r) const {
  const Tensor& dx = r.out(0);
  const int axis = static_cast<int>(settings_.axis);
  const int64_t bytes = (settings_.end - settings_.begin) * step(dx, axis);
  std::memset(dx.data, 0, static_cast<size_t>(dx.type.bytes()));
  copy_rows(dx.shape().elements_before(axis), bytes, r.in(0).data, bytes,
            static_cast<char*>(dx.data) + settings_.begin * step(dx, axis),
            dx.shape().dim(axis) * step(dx, axis));
}

std::vector<OpEntry> arrange_ops() { return {entry<Concat>(), entry<Slice>(), entry<SliceGradient>()}; }

}  // namespace heed::ops
