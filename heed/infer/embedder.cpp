#include "heed/infer/embedder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/model/stacks.h"

namespace heed::infer {
namespace {

// Tokens that are read at once: enough for products to run at full speed, few enough for little memory.
constexpr int64_t kTokens = 2048;
// Lengths are rounded up to multiples of this, so that few different programs are needed.
constexpr int64_t kLengthStep = 8;

spec::ModelSpec without_head(spec::ModelSpec spec) {
  require_encoder(spec);
  spec.head.kind = "hidden";
  return spec;
}

}  // namespace

void require_encoder(const spec::ModelSpec& spec) {
  if (model::stacks().find(spec.stack).mask != AttentionMask::kFull)
    throw usage_error(
        "the model is a ", spec.stack,
        ": its tokens see only those before them, so none knows the whole text; vectors of texts "
        "come from an encoder, such as BERT");
}

Embedder::Embedder(const spec::ModelSpec& spec, Pooling pooling, bool normalize, const model::Source& weights)
    : spec_(without_head(spec)), pooling_(pooling), normalize_(normalize) {
  graph::Graph graph;
  const model::Model model = model::build(graph, spec_, model::reading_form(1, 1));
  fill_weights(graph, model.weights, *variables_.parameters, weights);
}

void Embedder::prepare(int64_t sequences, int64_t length) {
  if (reader_.sequences == sequences && reader_.length == length) return;
  reader_ = {};  // its memory is free before the next is taken
  auto graph = std::make_shared<graph::Graph>();
  const model::GraphForm form = model::reading_form(sequences, length);
  const model::Model model = model::build(*graph, spec_, form);
  graph->mark_output(model.hidden);
  graph->tidy();
  reader_ = {sequences, length, model.hidden, std::make_unique<graph::Program>(graph, variables_), {}, {}};
  set_position(model::InputSpans(*reader_.program, model.inputs), form, {});
  const Batch batch = batch_of(model, *reader_.program);
  reader_.tokens = batch.ints("tokens"), reader_.padding = batch.ints("padding");
  std::ranges::fill(batch.ints("types"), 0);  // of a single text
}

const float* Embedder::read(std::span<const std::vector<int32_t>> texts, std::span<const size_t> which) {
  const auto length = static_cast<size_t>(reader_.length);
  std::ranges::fill(reader_.tokens, 0);
  std::ranges::fill(reader_.padding, 1);
  for (size_t i = 0; i < which.size(); ++i) {
    const std::vector<int32_t>& text = texts[which[i]];
    std::copy(text.begin(), text.end(), reader_.tokens.begin() + static_cast<std::ptrdiff_t>(i * length));
    std::fill_n(reader_.padding.begin() + static_cast<std::ptrdiff_t>(i * length), text.size(), 0);
  }
  reader_.program->run();
  return reader_.program->tensor(reader_.vectors).f32();
}

std::vector<float> Embedder::pooled(const float* vectors, size_t tokens) const {
  const auto width = static_cast<size_t>(spec_.width);
  std::vector<double> sum(vectors, vectors + width);
  if (pooling_ == Pooling::kMean) {
    for (size_t token = 1; token < tokens; ++token) {
      for (size_t c = 0; c < width; ++c) sum[c] += vectors[token * width + c];
    }
    for (double& value : sum) value /= static_cast<double>(tokens);
  }
  const double norm = std::sqrt(std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0));
  const double factor = normalize_ && norm > 0 ? 1 / norm : 1;
  std::vector<float> result(width);
  std::ranges::transform(sum, result.begin(),
                         [&](double value) { return static_cast<float>(value * factor); });
  return result;
}

std::vector<std::vector<float>> Embedder::embed(std::span<const std::vector<int32_t>> texts) {
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return texts[i].size(); });
  std::vector<std::vector<float>> vectors(texts.size());
  for (size_t begin = 0; begin < order.size();) {
    const auto longest_here = static_cast<int64_t>(texts[order[begin]].size());
    HEED_ASSERT(longest_here >= 1 && longest_here <= longest());
    const int64_t length = std::min(longest(), (longest_here + kLengthStep - 1) / kLengthStep * kLengthStep);
    const auto left = static_cast<int64_t>(order.size() - begin);
    const int64_t sequences = std::min(left, std::max<int64_t>(1, kTokens / length));
    prepare(sequences, length);
    const std::span which = std::span(order).subspan(begin, static_cast<size_t>(sequences));
    const float* hidden = read(texts, which);
    for (size_t i = 0; i < which.size(); ++i)
      vectors[which[i]] =
          pooled(hidden + static_cast<int64_t>(i) * length * spec_.width, texts[which[i]].size());
    begin += which.size();
  }
  return vectors;
}

std::vector<float> Embedder::hidden(const std::vector<int32_t>& text) {
  prepare(1, static_cast<int64_t>(text.size()));
  const size_t first = 0;
  const float* vectors = read(std::span(&text, 1), std::span(&first, 1));
  return {vectors, vectors + std::ssize(text) * spec_.width};
}

}  // namespace heed::infer
