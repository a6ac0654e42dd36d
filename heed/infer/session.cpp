#include "heed/infer/session.h"

#include <algorithm>

namespace heed::infer {

Session::Session(const spec::ModelSpec& spec, int64_t memory, const model::Source& weights, int64_t chunk)
    : spec_(spec) {
  if (spec.positions == Positions::kLearned) memory = spec.embedding.context, chunk = std::min(chunk, memory);
  memory_ = memory;
  build(chunk);
  fill_weights(chunk_.program->graph(), chunk_.model.weights, *variables_.parameters, weights);
}

Session Session::with_same_weights() const {
  Session other(spec_, memory_, {variables_.parameters});
  other.build(chunk_.form.length);
  return other;
}

void Session::build(int64_t chunk) {
  chunk_ = with_length(chunk, chunk);
  step_ = with_length(chunk, 1);
  cursor_ = std::make_unique<model::Cursor>(step_.model, step_.form, variables_.states);
}

Session::Built Session::with_length(int64_t chunk, int64_t length) {
  Built built{model::generation_form(spec_, memory_, chunk, length), {}, nullptr, {}, {}, {}};
  auto graph = std::make_shared<graph::Graph>();
  built.model = model::build(*graph, spec_, built.form);
  graph->mark_output(built.model.scores);
  graph->tidy();
  built.program = std::make_unique<graph::Program>(graph, variables_);
  built.inputs = {*built.program, built.model.inputs};
  const Batch batch = batch_of(built.model, *built.program);
  built.tokens = batch.ints("tokens"), built.padding = batch.ints("padding");
  return built;
}

graph::Memory Session::memory() const {
  graph::Memory memory = chunk_.program->memory();
  memory.arena += step_.program->memory().arena;
  return memory;
}

void Session::restart() {
  cursor_->restart();
  history_.clear();
}

int64_t Session::tokens_read(int64_t tokens) const {
  const int64_t context = spec_.embedding.context;
  if (spec_.positions != Positions::kLearned || tokens <= context) return tokens;
  return std::max<int64_t>(1, context / 2);
}

void Session::run(Built& built, std::span<const int32_t> tokens) {
  cursor_->prepare(built.inputs, built.form);
  const std::span<int32_t> to = built.tokens, padding = built.padding;
  std::copy(tokens.begin(), tokens.end(), to.begin());
  // The rest of a chunk is padding: nothing sees its keys, and cells do not change.
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(tokens.size()), to.end(), 0);
  for (size_t i = 0; i < padding.size(); ++i) padding[i] = i >= tokens.size();
  if (!built.inputs.scored_row.empty()) built.inputs.scored_row[0] = static_cast<int32_t>(tokens.size()) - 1;
  built.program->run();
  cursor_->advance(static_cast<int64_t>(tokens.size()));
}

std::span<const float> Session::feed(std::span<const int32_t> tokens) {
  HEED_ASSERT(!tokens.empty());
  std::vector<int32_t> again;
  if (spec_.positions == Positions::kLearned) {
    const auto context = static_cast<size_t>(spec_.embedding.context);
    history_.insert(history_.end(), tokens.begin(), tokens.end());
    if (history_.size() > context) {
      // There is no position after the last one: the newer half of the text is read again from position 0.
      again.assign(history_.end() - static_cast<std::ptrdiff_t>(tokens_read(std::ssize(history_))),
                   history_.end());
      cursor_->restart();
      history_ = again;
      tokens = again;
    }
  }
  Built* last = nullptr;
  while (!tokens.empty()) {
    // A chunk uses all its positions, padding too; if the context has fewer left, tokens are read one by one.
    const bool fits = spec_.positions != Positions::kLearned ||
                      cursor_->seen() + chunk_.form.length <= spec_.embedding.context;
    last = tokens.size() > 1 && fits ? &chunk_ : &step_;
    const auto taken = std::min(tokens.size(), static_cast<size_t>(last->form.length));
    run(*last, tokens.first(taken));
    tokens = tokens.subspan(taken);
  }
  return last->program->tensor(last->model.scores).floats();
}

}  // namespace heed::infer
