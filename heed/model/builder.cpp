#include "heed/model/builder.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/panels.h"
#include "heed/model/stacks.h"
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

const spec::ModelSpec& validated(const spec::ModelSpec& spec) {
  spec::validate(spec);
  return spec;
}

}  // namespace

Builder::Builder(Graph& graph, const spec::ModelSpec& spec, const GraphForm& form)
    : graph_(graph),
      spec_(validated(spec)),
      stack_(stacks().find(spec.stack)),
      blocks_(spec.blocks()),
      form_(form),
      additions_(std::count_if(blocks_.begin(), blocks_.end(),
                               [](const spec::Block& block) { return !block.is_identity(); })) {
  if (form.sequences < 1 || form.length < 1 || form.memory() < 0 || form.chunks() < 1)
    throw usage_error("model: a batch of ", form.sequences, " x ", form.length, " tokens with a memory of ",
                      form.memory(),
                      " cannot be built; sequences and tokens must be at least 1, memory 0 or more");
  if (spec.positions == Positions::kLearned && form.length > spec.embedding.context)
    throw usage_error("model: ", form.length, " tokens at once; the model takes 1 to ",
                      spec.embedding.context, " positions");
  if (sees_all() && (form.memory() > 0 || form.caches()))
    throw usage_error("model: an ", stack_.name,
                      " reads a whole text at once, because every token sees those after it; it continues no "
                      "text and keeps no memory of earlier ones");
  if (sees_all() && spec.positions == Positions::kRelative)
    throw usage_error("model: positions are relative, which only sees earlier tokens; an ", stack_.name,
                      " takes learned positions or none");
  const auto by_content = [](const spec::Block& block) {
    return block.attention() == spec::Attention::kByContent;
  };
  if (spec.positions == Positions::kLearned && form.memory() > 0 && !form.caches() &&
      std::none_of(blocks_.begin(), blocks_.end(), by_content))
    throw usage_error("model: a memory of ", form.memory(),
                      " was asked for; learned positions are meaningless in another segment: use memory 0");
  if (form.trains() &&
      (spec.mix > 0 || std::max({spec.dropout, spec.attention.dropout, spec.embedding.dropout}) > 0))
    input(&Inputs::rng, "rng", {4});
}

bool Builder::sees_all() const { return stack_.mask == AttentionMask::kFull; }

ValueId Builder::input(ValueId Inputs::*id, const char* name, Shape shape, DType dtype) {
  ValueId& known = model_.inputs.*id;
  if (!known) known = graph_.input(name, shape, dtype);
  return known;
}

void Builder::declare(const std::string& name, Shape shape, WeightGroup group, Initial initial,
                      const Layer& layer) {
  model_.weights.plain.insert({name, {shape, group, initial, layer}});
}

ValueId Builder::parameter(const std::string& name, Shape shape, WeightGroup group, Initial initial,
                           const Layer& layer) {
  declare(name, shape, group, initial, layer);
  const ValueId known = graph_.find(name);
  return known ? known : graph_.parameter(name, shape);
}

ValueId Builder::derived(const std::string& name, Shape shape, std::vector<std::string> from,
                         std::function<void(const std::vector<Tensor>&, const Tensor&)> make,
                         int64_t scratch) {
  model_.weights.derived.insert({name, {std::move(from), std::move(make), scratch}});
  const ValueId known = graph_.find(name);
  return known ? known : graph_.parameter(name, shape);
}

ValueId Builder::packed(const std::string& name, int64_t in, int64_t out, bool transposed) {
  const ValueId panels = derived(name, ops::packed_shape(in, out), {name}, nullptr);
  model_.weights.derived.at(name).add_rows = [=](const Tensor& rows, int64_t first, const Tensor& to) {
    kernels::pack_panels({in, out, rows.f32(), transposed, to.f32(), first, rows.shape().dim(0)});
  };
  return panels;
}

Builder::Matrix Builder::matrix(const std::string& name, int64_t in, int64_t out, WeightGroup group,
                                Initial initial, const Layer& layer) {
  if (!form_.packs()) return {parameter(name, {in, out}, group, initial, layer), out};
  declare(name, {in, out}, group, initial, layer);
  return {packed(name, in, out), out};
}

Builder::Matrix Builder::joined(const std::string& name, const std::vector<std::string>& from, int64_t in,
                                int64_t out) {
  const auto make = [in, out](const std::vector<Tensor>& parts, const Tensor& to) {
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
  return {derived(name, ops::packed_shape(in, out), from, make, 4 * in * out), out};
}

ValueId Builder::product(ValueId x, const Matrix& weight, ValueId bias, ValueId residual,
                         Activation activation) {
  if (form_.packs())
    return ops::packed_linear(graph_, x, weight.value, bias, residual, {activation, weight.out});
  if (form_.observes()) {
    ValueId y = ops::linear(graph_, x, weight.value, bias, kNone, {});
    const std::string& name = graph_.value(weight.value).name;
    const std::string& layer = model_.weights.plain.at(name).layer.name;
    Product product{name, layer.empty() ? name : layer, weight.value, y, activation};
    if (activation != Activation::kNone) product.activated = y = ops::activation(graph_, y, activation);
    model_.products.push_back(std::move(product));
    return residual ? ops::add(graph_, residual, y) : y;
  }
  return ops::linear(graph_, x, weight.value, bias, residual, {activation, false, false});
}

ValueId Builder::product_into(ValueId residual, ValueId x, const Matrix& weight, ValueId bias) {
  // Dropout comes between the map and the residual, so they cannot be one op.
  if (drops(spec_.dropout))
    return ops::add(graph_, residual, dropout(product(x, weight, bias), spec_.dropout));
  return product(x, weight, bias, residual);
}

ValueId Builder::norm(ValueId x, const std::string& name, int64_t width) {
  const ValueId gain = parameter(name + ".weight", {width}, WeightGroup::kNorm, gain_initial()),
                bias = parameter(name + ".bias", {width}, WeightGroup::kNorm, constant(0));
  return ops::layer_norm(graph_, x, gain, bias, {spec_.epsilon});
}

Activation Builder::inner_activation() const {
  switch (spec_.feed_forward.activation) {  // without a default: the compiler names one that is left out
    case InnerActivation::kRelu:
      return Activation::kRelu;
    case InnerActivation::kGelu:
      return Activation::kGelu;
    case InnerActivation::kGeluTanh:
      return Activation::kGeluTanh;
  }
  assertion_failed("an inner activation is one of its names", __FILE__, __LINE__);
}

ValueId Builder::dropout(ValueId x, double rate) {
  return drops(rate) ? ops::dropout(graph_, x, rng(), {rate, next_stream(), false}) : x;
}

ValueId Builder::mixed(const std::vector<ValueId>& branches, int64_t layer) {
  const ValueId temperature =
      form_.trains() ? input(&Inputs::temperature, "temperature", {1}, DType::kF32) : kNone;
  const ValueId logits = parameter(theta_name(layer), {static_cast<int64_t>(branches.size())},
                                   WeightGroup::kChoice, constant(0));
  const ValueId weights = ops::gumbel_softmax(graph_, logits, temperature, rng(), {kMixtureStreams + layer});
  model_.mixtures.push_back(weights);
  return ops::mix(graph_, weights, branches);
}

ValueId Builder::state(State::Kind kind, const std::string& name, Shape shape) {
  const ValueId known = graph_.find(name);
  if (known) return known;
  model_.states.push_back({kind, name});
  return graph_.state(name, shape);
}

ValueId Builder::recall(const std::string& name, int64_t rows, int64_t width, bool flat) {
  if (form_.chunks() > 1) input(&Inputs::chunk, "chunk", {1});
  const ValueId rows_kept = state(flat ? State::Kind::kCell : State::Kind::kMemory, name,
                                  {form_.chunks(), form_.sequences, rows, width});
  return ops::recall(graph_, rows_kept, model_.inputs.chunk, {flat});
}

void Builder::remember(const std::string& name, ValueId x) {
  ops::remember(graph_, graph_.find(name), x, model_.inputs.chunk);
}

ValueId Builder::append(const std::string& name, ValueId x, int64_t first_column, int64_t width) {
  const ValueId cache = state(State::Kind::kCache, name, {form_.sequences, form_.cache_rows(), width});
  return ops::append(graph_, cache, x, cache_row(), {first_column});
}

ValueId Builder::read(const std::string& name, Shape shape) {
  const auto [known, fresh] = model_.batch.try_emplace(name, kNone);
  if (fresh) known->second = graph_.input(name, shape, DType::kI32);
  return known->second;
}

ValueId Builder::key_range() { return input(&Inputs::key_range, "key_range", {2}); }
ValueId Builder::cache_row() { return input(&Inputs::cache_row, "cache_row", {1}); }
ValueId Builder::first_position() { return input(&Inputs::first_position, "first_position", {1}); }
ValueId Builder::token_positions() {
  return input(&Inputs::token_positions, "token_positions", {form_.sequences, form_.length});
}
ValueId Builder::scored_row() { return input(&Inputs::scored_row, "scored_row", {1}); }

ValueId Builder::distances() {
  if (!distances_) {
    const int section = graph_.section();
    graph_.begin_section(kFrameSection);  // all blocks use them
    distances_ = ops::sinusoid(
        graph_, {form_.distances(), spec_.width, form_.protocol().clamp > 0 ? form_.protocol().clamp : -1});
    model_.distances = distances_;
    if (spec_.dropout_everywhere) distances_ = dropout(distances_, spec_.dropout);
    graph_.begin_section(section);
  }
  return distances_;
}

Initial Builder::weight_initial() const { return normal(spec_.deviation); }

// GPT-2 scales by the root of the number of residual additions.
Initial Builder::residual_initial() const {
  if (spec_.initialisation != Initialisation::kGpt2) return weight_initial();
  return normal(spec_.deviation / std::sqrt(static_cast<double>(std::max<int64_t>(1, additions_))));
}

Initial Builder::gain_initial() const {
  return spec_.initialisation == Initialisation::kTransformerXl ? normal(spec_.deviation, 1) : constant(1);
}

}  // namespace heed::model
