// The process that serves a model, and the memory it needs: what limits on memory are about.
#pragma once

#include "heed/infer/session.h"
#include "heed/spec/recipe.h"

namespace heed::infer {

// Tokens before the current one that a model sees by default.
int64_t usual_memory(const spec::Recipe& recipe);
// How a model is served by default: prompts of up to so many tokens are read and seen at once.
Serving usual_serving(const spec::Recipe& recipe, int64_t prompt);

// Everything that is resident in the process, planned.
struct ServingMemory {
  SessionMemory session;  // weights, state and both programs
  int64_t beside = 0;     // the tokenizer, and heed itself with its libraries
  int64_t total() const { return session.peak() + beside; }
};
// `tokenizer`: its kind; none if empty.
ServingMemory plan_serving(const spec::ModelSpec& model, const std::string& tokenizer, Serving serving);
// What does not depend on the model.
int64_t memory_beside_model(const std::string& tokenizer, int64_t vocabulary);

}  // namespace heed::infer
