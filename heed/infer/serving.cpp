#include "heed/infer/serving.h"

#include <algorithm>

#include "heed/data/tokenizer.h"

namespace heed::infer {
namespace {

// Code and data of heed and its libraries that generating touches, stacks, and what libraries allocate:
// tests/e2e/memory_test.cpp holds it against what the kernel says.
constexpr int64_t kProgramBytes = 11 << 20;

}  // namespace

int64_t usual_memory(const spec::Recipe& recipe) {
  const int64_t own = std::max(recipe.evaluation.memory, recipe.training.memory);
  return own > 0 ? own : 256;
}

Serving usual_serving(const spec::Recipe& recipe, int64_t prompt) {
  return {std::max(usual_memory(recipe), prompt), prompt};
}

int64_t memory_beside_model(const std::string& tokenizer, int64_t vocabulary) {
  if (tokenizer.empty()) return kProgramBytes;
  const data::TokenizerEntry& entry = data::tokenizers().find(tokenizer);
  return kProgramBytes + entry.bytes + entry.bytes_per_token * vocabulary;
}

ServingMemory plan_serving(const spec::ModelSpec& model, const std::string& tokenizer, Serving serving) {
  return {plan_session(model, serving), memory_beside_model(tokenizer, model.embedding.vocabulary)};
}

}  // namespace heed::infer
