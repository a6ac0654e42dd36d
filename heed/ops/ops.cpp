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
#include "heed/ops/sgd.h"
#include "heed/ops/sinusoid.h"
#include "heed/ops/softmax_loss.h"
#include "heed/ops/sru.h"

namespace heed::ops {
namespace {

// The ops of every file. A new file adds one line.
std::vector<OpEntry> all_files() {
  std::vector<OpEntry> all;
  for (const auto& ops : {
           accumulate_ops(),
           activation_ops(),
           adaptive_embedding_ops(),
           adaptive_log_probabilities_ops(),
           adaptive_softmax_ops(),
           arithmetic_ops(),
           arrange_ops(),
           attention_ops(),
           constant_ops(),
           dropout_ops(),
           embedding_ops(),
           gumbel_softmax_ops(),
           latency_loss_ops(),
           layer_norm_ops(),
           linear_ops(),
           memory_ops(),
           optimizer_ops(),
           packed_ops(),
           sgd_ops(),
           sinusoid_ops(),
           softmax_loss_ops(),
           sru_ops(),
       })
    all.insert(all.end(), ops.begin(), ops.end());
  return all;
}

}  // namespace

const Registry<OpEntry>& all() {
  static const Registry<OpEntry> list("op", all_files());
  return list;
}

std::vector<ValueId> add(Graph& graph, const std::string& name, std::vector<ValueId> inputs,
                         const Json& settings) {
  return graph.add(all().find(name).make(settings, name), std::move(inputs));
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
