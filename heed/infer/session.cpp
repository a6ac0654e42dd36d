#include "heed/infer/session.h"

#include <algorithm>

namespace heed::infer {

namespace {

// As the model can be served.
Serving within(const spec::ModelSpec& spec, Serving serving) {
  if (spec.positions != Positions::kLearned) return serving;
  return {spec.embedding.context, std::min(serving.chunk, spec.embedding.context)};
}

// The graph that reads `length` tokens at once.
std::shared_ptr<graph::Graph> build_graph(const spec::ModelSpec& spec, const model::GraphForm& form,
                                          model::Model& model) {
  auto graph = std::make_shared<graph::Graph>();
  model = model::build(*graph, spec, form);
  graph->mark_output(model.scores);
  graph->tidy();
  return graph;
}

model::GraphForm form_of(const spec::ModelSpec& spec, const Serving& serving, int64_t length) {
  return model::generation_form(spec, serving.memory, serving.chunk, length);
}

// Of the two programs of a session, which share everything.
SessionMemory together(const graph::Memory& chunk, const graph::Memory& step, const model::Weights& weights) {
  SessionMemory memory{chunk};
  memory.arena = std::max(chunk.arena, step.arena);
  memory.loading = model::loading_bytes(weights);
  return memory;
}

}  // namespace

SessionMemory plan_session(const spec::ModelSpec& spec, Serving serving) {
  serving = within(spec, serving);
  model::Model model;
  const auto planned = [&](int64_t length) {
    return graph::plan(*build_graph(spec, form_of(spec, serving, length), model)).memory;
  };
  const graph::Memory step = planned(1);
  return together(planned(serving.chunk), step, model.weights);
}

Session::Session(const spec::ModelSpec& spec, Serving serving, const model::Source& weights)
    : spec_(spec), serving_(within(spec, serving)) {
  build();
  fill_weights(chunk_.program->graph(), chunk_.model.weights, *variables_.parameters, weights);
}

Session Session::with_same_weights() const {
  Session other(spec_, serving_, graph::Variables{variables_.parameters});
  other.build();
  return other;
}

void Session::build() {
  chunk_ = built(serving_.chunk);
  step_ = built(1);
  // They never run at the same time, and write their inputs before each run.
  const auto arena = graph::shared_arena({chunk_.graph.get(), step_.graph.get()}, variables_);
  for (Built* both : {&chunk_, &step_}) {
    both->program = std::make_unique<graph::Program>(both->graph, variables_, arena);
    both->inputs = {*both->program, both->model.inputs};
    const Batch batch = batch_of(both->model, *both->program);
    both->tokens = batch.ints("tokens"), both->padding = batch.ints("padding");
  }
  cursor_ = std::make_unique<model::Cursor>(step_.model, step_.form, variables_.states);
}

Session::Built Session::built(int64_t length) const {
  Built built{form_of(spec_, serving_, length), {}, nullptr, nullptr, {}, {}, {}};
  built.graph = build_graph(spec_, built.form, built.model);
  return built;
}

SessionMemory Session::memory() const {
  return together(chunk_.program->memory(), step_.program->memory(), chunk_.model.weights);
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
