#include "heed/search/proxies/counts.h"

#include <algorithm>
#include <cmath>

#include "heed/model/model.h"

namespace heed::search {
namespace {

using OfCounts = double (*)(int64_t, int64_t, int64_t, int64_t);

template <OfCounts of_counts>
double counted(const spec::ModelSpec& model, const ProxyInput&) {
  const model::ParameterCount count = model::count_parameters(model);
  return of_counts(count.decoder, count.total, model.width, model.table_width());
}

double decoder_params(int64_t decoder, int64_t, int64_t, int64_t) { return static_cast<double>(decoder); }

double total_params(int64_t, int64_t total, int64_t, int64_t) { return static_cast<double>(total); }

// The input and output of a model have at most as many dimensions as its token table. A wider decoder cannot
// use all of its width: among models with equal decoders those with a narrower embedding are worse, by about
// as much as a decoder smaller by this factor. One exponent, the same for both backbones (docs/proxy.md).
double effective_params(int64_t decoder, int64_t, int64_t width, int64_t embedding_width) {
  const double share = static_cast<double>(embedding_width) / static_cast<double>(width);
  return static_cast<double>(decoder) * std::pow(std::min(1.0, share), 0.3);
}

double flops(const spec::ModelSpec& model, const ProxyInput& batch) {
  graph::Graph graph;
  const model::Model built = model::build(graph, model, {.length = batch.length});
  return built.block_cost.flops + built.output_cost.flops;
}

}  // namespace

Proxy decoder_params_proxy() {
  return {"decoder_params", "parameters without embedding and output", false, counted<decoder_params>,
          decoder_params};
}

Proxy total_params_proxy() {
  return {"total_params", "all parameters", false, counted<total_params>, total_params};
}

Proxy flops_proxy() {
  return {"flops", "floating-point operations of a segment, blocks and the head of the output", false, flops};
}

Proxy effective_params_proxy() {
  return {"effective_params",
          "parameters of the decoder, fewer where the embedding is narrower than the model", false,
          counted<effective_params>, effective_params};
}

Proxy worth_proxy() {
  Proxy proxy{"worth", "minus the bits per byte that a law of worth predicts for the training there will be",
              false, nullptr};
  proxy.by_law = true;
  return proxy;
}

}  // namespace heed::search
