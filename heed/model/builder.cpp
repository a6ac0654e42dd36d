#include "heed/model/builder.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/panels.h"
#include "heed/ops/activation.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/dropout.h"
#include "heed/ops/gumbel_softmax.h"
#include "heed/ops/layer_norm.h"
#include "heed/ops/linear.h"
#include "heed/ops/memory.h"
#include "heed/ops/packed.h"
#include "heed/ops/sinusoid.h"

namespace heed::model {
namespace {

constexpr int64_t kMixtureStreams = 1 << 20;  // far beyond those of dropout

}  // namespace

Builder::Builder(Graph& graph, const spec::ModelSpec& spec, const Use& use)
    : graph_(graph), spec_(spec), use_(use) {
  spec::validate(spec);
  if (use.sequences < 1 || use.length < 1 || use.memory < 0 || use.chunks < 1)
    throw usage_error("model: a batch of ", use.sequences, " x ", use.length, " tokens with a memory of ",
                      use.memory,
                      " cannot be built; sequences and tokens must be at least 1, memory 0 or more");
  if (spec.positions == Positions::kLearned && use.length > spec.context)
    throw usage_error("model: ", use.length, " tokens at once; the model takes 1 to ", spec.context,
                      " positions");
  if (spec.positions == Positions::kLearned && use.memory > 0 && !use.cached &&
      spec.letters().find('a') == std::string::npos)
    throw usage_error("model: a memory of ", use.memory,
                      " was asked for; learned positions mean nothing in another segment: use memory 0");
  HEED_ASSERT(!(use.training && (use.cached || use.packed)));
  if (use.training &&
      (spec.mix > 0 || std::max({spec.dropout, spec.attention_dropout, spec.embedding_dropout}) > 0))
    rng_ = input("rng", {4});
}

ValueId Builder::input(const char* name, Shape shape) {
  const ValueId known = graph_.find(name);
  return known ? known : graph_.input(name, shape, DType::kI32);
}

void Builder::declare(const std::string& name, Shape shape, Part part, Initial initial) {
  model_.weights.plain.insert({name, {shape, part, initial}});
}

ValueId Builder::parameter(const std::string& name, Shape shape, Part part, Initial initial) {
  declare(name, shape, part, initial);
  const ValueId known = graph_.find(name);
  return known ? known : graph_.parameter(name, shape);
}

ValueId Builder::derived(const std::string& name, Shape shape, std::vector<std::string> from,
                         std::function<void(const std::vector<Tensor>&, const Tensor&)> make) {
  model_.weights.derived.insert({name, {std::move(from), std::move(make)}});
  const ValueId known = graph_.find(name);
  return known ? known : graph_.parameter(name, shape);
}

Builder::Matrix Builder::matrix(const std::string& name, int64_t in, int64_t out, Part part,
                                Initial initial) {
  if (!use_.packed) return {parameter(name, {in, out}, part, initial), out};
  declare(name, {in, out}, part, initial);
  return joined(name, {name}, in, out);
}

Builder::Matrix Builder::joined(const std::string& name, const std::vector<std::string>& from, int64_t in,
                                int64_t out) {
  const auto make = [in, out](const std::vector<Tensor>& parts, const Tensor& to) {
    if (parts.size() == 1) return kernels::pack_panels({in, out, parts[0].f32(), false, to.f32()});
    const Buffer side_by_side(4 * in * out);
    auto* all = reinterpret_cast<float*>(side_by_side.data());
    for (int64_t row = 0, column; row < in; ++row) {
      column = 0;
      for (const Tensor& part : parts) {
        const int64_t width = part.shape().dim(1);
        std::copy_n(part.f32() + row * width, width, all + row * out + column);
        column += width;
      }
    }
    kernels::pack_panels({in, out, all, false, to.f32()});
  };
  return {derived(name, ops::packed_shape(in, out), from, make), out};
}

ValueId Builder::product(ValueId x, const Matrix& weight, ValueId bias, ValueId residual,
                         Activation activation) {
  if (use_.packed)
    return ops::packed_linear(graph_, x, weight.value, bias, residual, {activation, weight.out});
  if (use_.observed) {
    ValueId y = ops::linear(graph_, x, weight.value, bias, kNone, {});
    model_.products.push_back({graph_.value(weight.value).name, weight.value, y});
    if (activation != Activation::kNone) y = ops::activation(graph_, y, activation);
    return residual ? ops::add(graph_, residual, y) : y;
  }
  return ops::linear(graph_, x, weight.value, bias, residual, {activation, false, false});
}

ValueId Builder::product_into(ValueId residual, ValueId x, const Matrix& weight, ValueId bias) {
  // Dropout stands between the map and the residual, which can then not be one op.
  if (drops(spec_.dropout))
    return ops::add(graph_, residual, dropout(product(x, weight, bias), spec_.dropout));
  return product(x, weight, bias, residual);
}

ValueId Builder::norm(ValueId x, const std::string& name, int64_t width) {
  const ValueId gain = parameter(name + ".weight", {width}, Part::kNorm, gain_initial()),
                bias = parameter(name + ".bias", {width}, Part::kNorm, constant(0));
  return ops::layer_norm(graph_, x, gain, bias, {spec_.epsilon});
}

ValueId Builder::dropout(ValueId x, double rate) {
  return drops(rate) ? ops::dropout(graph_, x, rng_, {rate, next_stream(), false}) : x;
}

ValueId Builder::mixed(const std::vector<ValueId>& branches, int64_t layer) {
  ValueId temperature = graph_.find(kTemperature);
  if (use_.training && !temperature) temperature = graph_.input(kTemperature, {1});
  const ValueId logits =
      parameter(theta_name(layer), {static_cast<int64_t>(branches.size())}, Part::kChoice, constant(0));
  const ValueId weights = ops::gumbel_softmax(graph_, logits, temperature, rng_, {kMixtureStreams + layer});
  model_.mixtures.push_back(weights);
  return ops::mix(graph_, weights, branches);
}

ValueId Builder::state(State::Kind kind, const std::string& name, Shape shape) {
  const ValueId known = graph_.find(use_.states + name);
  if (known) return known;
  model_.states.push_back({kind, use_.states + name});
  return graph_.state(use_.states + name, shape);
}

ValueId Builder::recall(const std::string& name, int64_t rows, int64_t width, bool flat) {
  if (use_.chunks > 1) slot_ = input("slot", {1});
  const ValueId rows_kept = state(flat ? State::Kind::kCell : State::Kind::kMemory, name,
                                  {use_.chunks, use_.sequences, rows, width});
  return ops::recall(graph_, rows_kept, slot_, {flat});
}

void Builder::remember(const std::string& name, ValueId x) {
  ops::remember(graph_, graph_.find(use_.states + name), x, slot_);
}

ValueId Builder::append(const std::string& name, ValueId x, int64_t first_column, int64_t width) {
  const ValueId cache = state(State::Kind::kCache, name, {use_.sequences, use_.rows(), width});
  return ops::append(graph_, cache, x, position(), {first_column});
}

ValueId Builder::positions() { return input("positions", {2}); }
ValueId Builder::position() { return input("position", {1}); }
ValueId Builder::place() { return input("place", {1}); }
ValueId Builder::places() { return input("places", {use_.sequences, use_.length}); }
ValueId Builder::padding() { return input("padding", {use_.sequences, use_.length}); }
ValueId Builder::row() { return input("row", {1}); }

ValueId Builder::distances() {
  if (!distances_) {
    const int part = graph_.part();
    graph_.begin_part(kFramePart);  // all blocks use them
    distances_ = ops::sinusoid(graph_, {use_.distances(), spec_.width, use_.clamp > 0 ? use_.clamp : -1});
    if (spec_.dropout_everywhere) distances_ = dropout(distances_, spec_.dropout);
    graph_.begin_part(part);
  }
  return distances_;
}

Initial Builder::weight_initial() const { return normal(spec_.deviation); }

// GPT-2 scales by the root of the number of residual additions.
Initial Builder::residual_initial() const {
  if (spec_.initialisation != Initialisation::kGpt2) return weight_initial();
  const std::string letters = spec_.letters();
  const auto additions =
      letters.size() - static_cast<size_t>(std::count(letters.begin(), letters.end(), 'i'));
  return normal(spec_.deviation / std::sqrt(static_cast<double>(std::max<size_t>(1, additions))));
}

Initial Builder::gain_initial() const {
  return spec_.initialisation == Initialisation::kTransformerXl ? normal(spec_.deviation, 1) : constant(1);
}

}  // namespace heed::model
