// A model during generation: weights packed once, state carried from token to token.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/model/cursor.h"

namespace heed::infer {

class Session {
 public:
  // `memory`: tokens before the current one that attention sees; a model with learned positions sees its
  // context. `chunk`: tokens of a prompt read at once.
  Session(const spec::ModelSpec& spec, int64_t memory, const model::Source& weights, int64_t chunk = 64);
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
  int64_t memory_tokens() const { return memory_; }
  // The weights in the form the session reads, most of them packed.
  const graph::NamedTensors& weights() const { return *variables_.parameters; }
  graph::Memory memory() const;  // weights, state and both programs

 private:
  struct Built {  // the model for a number of tokens at once
    model::GraphForm form;
    model::Model model;
    std::unique_ptr<graph::Program> program;
    model::InputSpans inputs;
    std::span<int32_t> tokens, padding;
  };
  Session(const spec::ModelSpec& spec, int64_t memory, graph::Variables variables)
      : spec_(spec), memory_(memory), variables_(std::move(variables)) {}
  void build(int64_t chunk);
  Built with_length(int64_t chunk, int64_t length);
  void run(Built& built, std::span<const int32_t> tokens);

  spec::ModelSpec spec_;
  int64_t memory_ = 0;
  graph::Variables variables_;
  Built chunk_, step_;
  std::unique_ptr<model::Cursor> cursor_;
  std::vector<int32_t> history_;  // with learned positions: what the caches hold
};

}  // namespace heed::infer
