// An op: one kind of node. Everything heed knows about it is behind this interface, in one file per op
// (heed/ops).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"
#include "heed/tensor/tensor.h"

namespace heed::graph {

class Gradients;  // differentiate.h
class Graph;      // graph.h

// Index of a value in its graph. kNone stands for an optional input that is not given.
struct ValueId {
  int32_t index = -1;
  explicit operator bool() const { return index >= 0; }
  auto operator<=>(const ValueId&) const = default;
};
inline constexpr ValueId kNone{};

// The types of a node's inputs and outputs. An optional input that was not given is nullopt.
struct Signature {
  std::vector<std::optional<TensorType>> inputs;
  std::vector<TensorType> outputs;

  bool has(size_t i) const { return i < inputs.size() && inputs[i].has_value(); }
  const Shape& in(size_t i) const { return inputs[i]->shape; }
  const Shape& out(size_t i) const { return outputs[i].shape; }
  // Bytes read and written when every tensor is touched once.
  int64_t bytes() const;
};

struct Cost {
  double flops = 0;  // 2 per multiply-add of a matrix product; nothing for the rest
  double bytes = 0;  // least number read and written
};

// Output `output` may (or, if `required`, must) use the memory of input `input`.
struct Alias {
  int output;
  int input;
  bool required;
};

// The memory of one node, handed to Op::run. Absent optional inputs are empty tensors.
struct Run {
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  std::span<std::byte> scratch;  // at least what scratch_bytes asked for
  const Signature* signature;    // the types of inputs and outputs

  bool has(size_t i) const { return i < inputs.size() && inputs[i]; }
  const Tensor& in(size_t i) const { return inputs[i]; }
  const Tensor& out(size_t i) const { return outputs[i]; }
  float* in_or_null(size_t i) const { return i < inputs.size() ? inputs[i].f32_or_null() : nullptr; }
};

class Op {
 public:
  virtual ~Op() = default;

  virtual std::string_view kind() const = 0;
  // Kind and settings define an op completely; ops::add creates it again from them.
  virtual Json settings() const { return Json::object(); }
  // The shape rule: returns the types of the outputs, or throws an Error that says what does not match.
  // `signature.outputs` is empty.
  virtual std::vector<TensorType> infer(const Signature& signature) const = 0;
  virtual Cost cost(const Signature& signature) const { return {0, static_cast<double>(signature.bytes())}; }
  // Working memory of one run, planned into the arena like any value.
  virtual int64_t scratch_bytes(const Signature&) const { return 0; }
  virtual std::vector<Alias> aliases(const Signature&) const { return {}; }
  virtual void run(const Run& run) const = 0;
  // Adds the nodes that carry gradients from outputs to inputs. Throws for ops without a gradient.
  virtual void gradient(Gradients& gradients) const;
  // For outputs that are cheaper to recompute in the backward pass than to keep: adds nodes that do so (from
  // values that are kept anyway) and returns the result. kNone: keep the output. See Gradients::saved.
  virtual ValueId recompute(Graph& graph, int node, size_t output) const;
};

// Helpers for shape rules: each throws an Error naming what was expected.
void expect(bool condition, const std::string& complaint);
void expect_rank(const Signature& signature, size_t input, int rank, const char* meaning);
void expect_dtype(const Signature& signature, size_t input, DType dtype, const char* meaning);
// Every input that is given holds floats.
void expect_floats(const Signature& signature);
void expect_shape(const Signature& signature, size_t input, const Shape& shape, const char* meaning);
void expect_type(const Signature& signature, size_t input, DType dtype, const Shape& shape,
                 const char* meaning);
void expect_inputs(const Signature& signature, size_t least, size_t most);

}  // namespace heed::graph
