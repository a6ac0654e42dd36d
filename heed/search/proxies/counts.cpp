#include "heed/search/proxies/counts.h"

#include <algorithm>
#include <cmath>

#include "heed/model/model.h"

namespace heed::search {
namespace {

double decoder_params(const spec::ModelSpec& model, int64_t) {
  return static_cast<double>(model::count_parameters(model).decoder);
}

double total_params(const spec::ModelSpec& model, int64_t) {
  return static_cast<double>(model::count_parameters(model).total);
}

double flops(const spec::ModelSpec& model, int64_t length) {
  graph::Graph graph;
  model::Use use;
  use.length = length;
  const model::Model built = model::build(graph, model, use);
  return built.block_cost.flops + built.output_cost.flops;
}

double effective_params(const spec::ModelSpec& model, int64_t) {
  return effective_parameters(static_cast<double>(model::count_parameters(model).decoder), model.width,
                              model.table_width());
}

}  // namespace

Proxy decoder_params_proxy() {
  return {"decoder_params", "parameters without embedding and output", decoder_params};
}

Proxy total_params_proxy() { return {"total_params", "all parameters", total_params}; }

Proxy flops_proxy() {
  return {"flops", "floating-point operations of a segment, blocks and the head of the output", flops};
}

Proxy effective_params_proxy() {
  return {"effective_params",
          "parameters of the decoder, fewer where the embedding is narrower than the model",
          effective_params};
}

// What enters and leaves a model has at most as many dimensions as its token table. A decoder wider than that
// cannot use all of its width: among models of equal decoders those with a narrower embedding are worse, and
// by about as much as a decoder smaller by this factor. One exponent, the same for both backbones
// (docs/proxy.md).
double effective_parameters(double decoder, int64_t width, int64_t embedding_width) {
  const double share = static_cast<double>(embedding_width) / static_cast<double>(width);
  return decoder * std::pow(std::min(1.0, share), 0.3);
}

}  // namespace heed::search
