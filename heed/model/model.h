// A model as a graph: build(spec, form) adds embedding, blocks and head one after the other.
#pragma once

#include <map>
#include <memory>

#include "heed/kernels/activation.h"
#include "heed/model/inputs.h"
#include "heed/model/weights.h"
#include "heed/tensor/batch.h"

namespace heed::model {

// What a model carries from run to run.
struct State {
  enum class Kind {
    kMemory,  // [chunks, B, M, D]: inputs of a block
    kCell,    // [chunks, B, 1, D]: of a recurrence
    kCache,   // [B, rows, width]: keys and values
  } kind;
  std::string name;
};

// A matrix of a block and its product, bias added, before activation and residual.
struct Product {
  std::string name;   // of the matrix
  std::string layer;  // the same for matrices that count as one map: queries, keys and values
  graph::ValueId matrix, output;
  Activation activation = Activation::kNone;
  graph::ValueId activated = graph::kNone;  // the output after the activation, if there is one
};

// How hidden vectors become scores of words: cluster by cluster, the most frequent words first.
struct Output {
  struct Cluster {
    int64_t begin, end;                        // its words
    graph::ValueId table;                      // [rows, E], or packed
    int64_t first_row;                         // of the table that is the first word's
    graph::ValueId projection = graph::kNone;  // [D, E], from hidden vectors to rows of the table
  };
  std::vector<Cluster> clusters;
  graph::ValueId entries = graph::kNone;  // [clusters - 1, E]: rows of the first cluster for all others
};

// The values a caller works with; kNone where a graph has no such value.
struct Model {
  Inputs inputs;
  std::map<std::string, graph::ValueId> batch;  // inputs that embedding, blocks and head read, i32
  graph::ValueId embedded;                      // [B, T, D], what the first block reads
  graph::ValueId hidden;                        // [B, T, D], what the head reads
  graph::ValueId positions;                     // [context, D], the table of learned positions
  graph::ValueId distances;  // [distances, D], sines and cosines that relative attention reads
  graph::ValueId losses;     // [B*T], nats per token
  graph::ValueId loss;       // [1], their mean
  graph::ValueId
      scores;  // [B, T, V] or [B, 1, V]: logits, or log-probabilities; of the head hidden [B, T, D]
  Output output;
  std::vector<State> states;
  std::vector<Product> products;         // where the form asks for them
  std::vector<graph::ValueId> mixtures;  // [mix] by layer of a supernet: how much of each branch
  Weights weights;
  graph::Cost block_cost, output_cost;
};

// The parameter [mix] of a supernet's layer: the logits of its branches.
inline std::string theta_name(int64_t layer) { return text("layers.", layer, ".theta"); }

// Sections of its graph: everything outside the blocks; block i is section i + 1.
inline constexpr int kFrameSection = 0;

// The memory of the batch that one program of the model reads.
Batch batch_of(const Model& model, const graph::Program& program);

// Adds the model to the graph; does not mark outputs.
Model build(graph::Graph& graph, const spec::ModelSpec& spec, const GraphForm& form);

// Parameters as a file holds them, counted without building memory.
Weights weights_of(const spec::ModelSpec& spec);
struct ParameterCount {
  std::map<WeightGroup, int64_t> groups;  // every group, also those with 0
  int64_t total = 0;
  int64_t decoder = 0;  // all but embedding and output
};
ParameterCount count_parameters(const spec::ModelSpec& spec);

}  // namespace heed::model
