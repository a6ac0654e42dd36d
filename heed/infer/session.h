// A model that is being spoken with: weights packed once, state carried from token to token.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/model/cursor.h"

namespace heed::infer {

class Session {
 public:
  // `memory`: tokens before the present one that attention sees; a model with learned positions sees its
  // context. `chunk`: tokens of a prompt taken at once.
  Session(const spec::ModelSpec& spec, int64_t memory, const model::Source& weights, int64_t chunk = 64);

  // Takes the tokens, at least one, and returns what comes next: a logit or log-probability per word, valid
  // until the next call.
  std::span<const float> feed(std::span<const int32_t> tokens);
  void restart();

  int64_t memory_tokens() const { return step_.use.memory; }
  graph::Memory memory() const;  // weights, state and both programs

 private:
  struct Form {  // the same model for so many tokens at once
    model::Use use;
    model::Model model;
    std::unique_ptr<graph::Program> program;
  };
  Form build(int64_t length);
  void run(Form& form, std::span<const int32_t> tokens);

  spec::ModelSpec spec_;
  model::Use use_;
  graph::Variables variables_;
  Form chunk_, step_;
  std::unique_ptr<model::Cursor> cursor_;
  std::vector<int32_t> history_;  // with learned positions: what the caches hold
};

}  // namespace heed::infer
