// A model as a graph: build(spec, use) writes the blocks of the architecture string one after the other.
#pragma once

#include <map>
#include <memory>

#include "heed/model/weights.h"
#include "heed/spec/model_spec.h"
#include "heed/spec/training_spec.h"

namespace heed::model {

// What the graph ends in.
enum class Purpose {
  kLoss,       // losses of all tokens and their mean
  kScores,     // logits or log-probabilities after every token
  kNextToken,  // the same after one token of each sequence, whose row is the input "row"
};

// What a graph is for; the same model is built differently for training, scoring and generating.
struct Use {
  Purpose purpose = Purpose::kLoss;
  int64_t sequences = 1;  // B
  int64_t length = 1;     // T
  int64_t memory = 0;     // M, rows of the past that attention sees
  bool training = false;  // with dropout
  // Keys and values are made once and kept (exact while weights stand still), instead of keeping each block's
  // input and projecting it anew for every segment, as training needs and the papers did.
  bool cached = false;
  bool packed = false;     // matrices in the order that products read them; no gradients
  bool observed = false;   // what each matrix makes is a value of its own (Model::products)
  int64_t chunks = 1;      // parts of a batch with a memory of their own
  int64_t cache_rows = 0;  // rows of each cache; 0: memory + length
  int64_t reach = 0;       // distances that relative attention knows; 0: memory + length
  Visible visible = Visible::kAll;
  int64_t clamp = 0;
  std::string
      states;  // begins the names of states, so that graphs that share weights keep their memory apart

  int64_t rows() const { return cache_rows ? cache_rows : memory + length; }
  int64_t distances() const { return reach ? reach : memory + length; }
};

// What a model carries from run to run.
struct State {
  enum class Kind {
    kMemory,  // [chunks, B, M, D]: inputs of a block
    kCell,    // [chunks, B, 1, D]: of a recurrence
    kCache,   // [B, rows, width]: keys and values
  } kind;
  std::string name;
};

// The values a caller works with; kNone where a graph has no such value.
// A matrix of a block and what it makes, bias added, before activation and residual.
struct Product {
  std::string name;  // of the matrix
  graph::ValueId matrix, output;
};

struct Model {
  graph::ValueId tokens = graph::kNone;    // i32 [B, T], input "tokens"
  graph::ValueId targets = graph::kNone;   // i32 [B*T], input "targets", -1 to ignore
  graph::ValueId embedded = graph::kNone;  // [B, T, D], what the first block reads
  graph::ValueId hidden = graph::kNone;    // [B, T, D], what the output reads
  graph::ValueId losses = graph::kNone;    // [B*T], nats per token
  graph::ValueId loss = graph::kNone;      // [1], their mean
  graph::ValueId scores = graph::kNone;    // [B, T, V] or [B, 1, V]: logits, or log-probabilities
  std::vector<State> states;
  std::vector<Product> products;         // where the use asks for them
  std::vector<graph::ValueId> mixtures;  // [mix] by layer of a supernet: how much of each branch
  Weights weights;
  graph::Cost block_cost, output_cost;
};

// A supernet's input [1] that divides its logits in training, and the parameter [mix] that these are, by
// layer.
inline constexpr const char* kTemperature = "temperature";
inline std::string theta_name(int64_t layer) { return text("layers.", layer, ".theta"); }

// Parts of its graph: what is there once, and block i is part i + 1.
inline constexpr int kFramePart = 0;

// Adds the model to the graph and marks nothing as output. Inputs besides tokens and targets, where the model
// needs them (see Position): "positions", "position", "place", "places", "slot", "rng", "row", "padding".
Model build(graph::Graph& graph, const spec::ModelSpec& spec, const Use& use);

// Where in its text a program stands; writes the inputs that say so.
struct Position {
  int64_t seen = 0;  // tokens of earlier runs
  int64_t row = 0;   // first row of the caches that the next tokens take
};
void set_position(graph::Program& program, const Use& use, const Position& position);

// Parameters as a file holds them, counted without building memory.
Weights weights_of(const spec::ModelSpec& spec);
struct ParameterCount {
  std::map<Part, int64_t> parts;  // every one, also those of 0
  int64_t total = 0;
  int64_t decoder = 0;  // all but embedding and output
};
ParameterCount count_parameters(const spec::ModelSpec& spec);

}  // namespace heed::model
