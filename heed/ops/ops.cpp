#include "heed/ops/ops.h"

#include "heed/graph/differentiate.h"
#include "heed/ops/accumulate.h"
#include "heed/ops/activation.h"
#include "heed/ops/adaptive_embedding.h"
#include "heed/ops/adaptive_softmax.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/arrange.h"
#include "heed/ops/attention.h"
#include "heed/ops/constant.h"
#include "heed/ops/dropout.h"
#include "heed/ops/embedding.h"
#include "heed/ops/gumbel_softmax.h"
#include "heed/ops/latency_loss.h"
#include "heed/ops/layer_norm.h"
#include "heed/ops/linear.h"
#include "heed/ops/memory.h"
#include "heed/ops/optimizer.h"
#include "heed/ops/packed.h"
#include "heed/ops/sinusoid.h"
#include "heed/ops/softmax_loss.h"
#include "heed/ops/sru.h"

namespace heed::ops {
namespace {

template <class OpType>
OpEntry entry() {
  return {OpType::kKind, [](const Json& settings) -> std::shared_ptr<const graph::Op> {
            return std::make_shared<OpType>(from_json<typename OpType::Settings>(settings, OpType::kKind));
          }};
}

}  // namespace

// The list of ops. A new op adds one line.
const Registry<OpEntry>& all() {
  static const Registry<OpEntry> list("op", {
                                                entry<Activate>(),
                                                entry<ActivateBackward>(),
                                                entry<Adam>(),
                                                entry<AdaptiveEmbedding>(),
                                                entry<AdaptiveEmbeddingGradient>(),
                                                entry<AdaptiveLogProbabilities>(),
                                                entry<AdaptiveSoftmaxLoss>(),
                                                entry<AdaptiveSoftmaxLossGradient>(),
                                                entry<Add>(),
                                                entry<Accumulate>(),
                                                entry<Append>(),
                                                entry<Attention>(),
                                                entry<AttentionBackward>(),
                                                entry<Concat>(),
                                                entry<Constant>(),
                                                entry<Dot>(),
                                                entry<Dropout>(),
                                                entry<DropoutMask>(),
                                                entry<Embedding>(),
                                                entry<EmbeddingGradient>(),
                                                entry<GlobalNorm>(),
                                                entry<GumbelSoftmax>(),
                                                entry<GumbelSoftmaxBackward>(),
                                                entry<Lamb>(),
                                                entry<LatencyLoss>(),
                                                entry<LatencyLossBackward>(),
                                                entry<LayerNorm>(),
                                                entry<LayerNormBackward>(),
                                                entry<Linear>(),
                                                entry<LinearGradient>(),
                                                entry<LogProbabilities>(),
                                                entry<MeanLoss>(),
                                                entry<MeanLossGradient>(),
                                                entry<Mix>(),
                                                entry<MixGradient>(),
                                                entry<MixWeightGradient>(),
                                                entry<Mul>(),
                                                entry<NvLamb>(),
                                                entry<PackedEmbedding>(),
                                                entry<PackedLinear>(),
                                                entry<PositionGradient>(),
                                                entry<RAdam>(),
                                                entry<Recall>(),
                                                entry<Remember>(),
                                                entry<Scale>(),
                                                entry<Sinusoid>(),
                                                entry<Slice>(),
                                                entry<SliceGradient>(),
                                                entry<SoftmaxLoss>(),
                                                entry<SoftmaxLossGradient>(),
                                                entry<Sru>(),
                                                entry<SruBackward>(),
                                                entry<TakeRow>(),
                                            });
  return list;
}

std::vector<ValueId> add(Graph& graph, const std::string& name, std::vector<ValueId> inputs,
                         const Json& settings) {
  return graph.add(all().find(name).make(settings), std::move(inputs));
}

std::map<ValueId, ValueId> gradients(Graph& graph, const std::map<ValueId, ValueId>& seeds,
                                     const std::vector<ValueId>& wrt) {
  return graph::differentiate(graph, seeds, wrt, [](Graph& g, ValueId a, ValueId b) { return add(g, a, b); });
}

std::map<ValueId, ValueId> gradients(Graph& graph, ValueId loss, const std::vector<ValueId>& wrt) {
  if (graph.shape(loss).elements() != 1) {
    throw usage_error("gradients: the loss must be one number, ", graph.describe(loss), " is ",
                      graph.shape(loss).str());
  }
  const Shape& shape = graph.shape(loss);
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
  return gradients(graph, {{loss, constant(graph, dims, 1)}}, wrt);
}

}  // namespace heed::ops
