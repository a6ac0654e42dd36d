// `heed describe --graph`.
#pragma once

#include "heed/spec/model_spec.h"

namespace heed::cli {

// Prints the graph that scores every word after each of batch x length tokens, node by node.
void describe_graph(const spec::ModelSpec& spec, int64_t batch, int64_t length, int64_t memory, bool json);

}  // namespace heed::cli
