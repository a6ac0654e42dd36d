// A model during generation: weights packed once, state carried from token to token.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "heed/model/cursor.h"

namespace heed::infer {

// How a model is served. `memory`: tokens before the current one that attention sees; a model with learned
// positions sees its context. `chunk`: tokens of a prompt that are read at once.
struct Serving {
  int64_t memory = 0;
  int64_t chunk = 64;
};

// What a session needs, in bytes.
struct SessionMemory : graph::Memory {
  int64_t loading = 0;  // beside the weights, while they are read: state and arena are not used yet
  int64_t peak() const { return weights + std::max(loading, state + arena); }
};

class Session {
 public:
  Session(const spec::ModelSpec& spec, Serving serving, const model::Source& weights);
  // Another session of the same model: it shares the memory of the weights and starts its own text.
  // Both may run at the same time, each on its own thread.
  Session with_same_weights() const;

  // Reads the tokens, at least one, and returns the scores of the next: a logit or log-probability per word,
  // valid until the next call.
  std::span<const float> feed(std::span<const int32_t> tokens);
  void restart();

  // How many of the tokens of a new text are read: a model with learned positions that is given more than its
  // context reads the newest half of a context.
  int64_t tokens_read(int64_t tokens) const;
  int64_t memory_tokens() const { return serving_.memory; }
  // The weights in the form the session reads, most of them packed.
  const graph::NamedTensors& weights() const { return *variables_.parameters; }
  SessionMemory memory() const;  // plan_session says it beforehand

 private:
  struct Built {  // the model for a number of tokens at once
    model::GraphForm form;
    model::Model model;
    std::shared_ptr<graph::Graph> graph;
    std::unique_ptr<graph::Program> program;
    model::InputSpans inputs;
    std::span<int32_t> tokens, padding;
  };
  Session(const spec::ModelSpec& spec, Serving serving, graph::Variables variables)
      : spec_(spec), serving_(serving), variables_(std::move(variables)) {}
  void build();
  Built built(int64_t length) const;  // without its program
  void run(Built& built, std::span<const int32_t> tokens);

  spec::ModelSpec spec_;
  Serving serving_;
  graph::Variables variables_;
  Built chunk_, step_;
  std::unique_ptr<model::Cursor> cursor_;
  std::vector<int32_t> history_;  // with learned positions: what the caches hold
};

// What a session will need, without making one.
SessionMemory plan_session(const spec::ModelSpec& spec, Serving serving);

}  // namespace heed::infer
