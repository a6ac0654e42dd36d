#include "heed/infer/session.h"

#include <algorithm>

namespace heed::infer {

Session::Session(const spec::ModelSpec& spec, int64_t memory, const model::Source& weights, int64_t chunk)
    : spec_(spec) {
  const bool learned = spec.positions == Positions::kLearned;
  if (learned) memory = spec.context, chunk = std::min(chunk, spec.context);
  use_.purpose = model::Purpose::kNextToken;
  use_.memory = memory;
  use_.cached = use_.packed = true;
  // So that each token of a chunk sees no more than if it came alone.
  use_.visible = Visible::kBand;
  // Learned places end with the context. Others go on: with as much room as memory a row is moved once.
  use_.cache_rows = learned ? spec.context : 2 * memory + chunk;
  use_.reach = memory + chunk;
  chunk_ = build(chunk);
  fill_weights(chunk_.program->graph(), chunk_.model.weights, variables_, weights);
  step_ = build(1);
  cursor_ = std::make_unique<model::Cursor>(step_.model, step_.use, variables_);
}

Session::Form Session::build(int64_t length) {
  Form form{use_, {}, nullptr};
  form.use.length = length;
  auto graph = std::make_shared<graph::Graph>();
  form.model = model::build(*graph, spec_, form.use);
  graph->mark_output(form.model.scores);
  graph->tidy();
  form.program = std::make_unique<graph::Program>(graph, variables_);
  return form;
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

void Session::run(Form& form, std::span<const int32_t> tokens) {
  cursor_->place(*form.program, form.use);
  const auto to = form.program->input("tokens").ints();
  std::copy(tokens.begin(), tokens.end(), to.begin());
  if (form.use.length > 1) {
    // The rest of the chunk is padding: nothing sees its keys, and cells stand still.
    std::fill(to.begin() + static_cast<std::ptrdiff_t>(tokens.size()), to.end(), 0);
    form.program->input("row").i32()[0] = static_cast<int32_t>(tokens.size()) - 1;
    if (form.program->graph().find("padding")) {
      const auto padding = form.program->input("padding").ints();
      for (size_t i = 0; i < padding.size(); ++i) padding[i] = i >= tokens.size();
    }
  }
  form.program->run();
  cursor_->advance(static_cast<int64_t>(tokens.size()));
}

std::span<const float> Session::feed(std::span<const int32_t> tokens) {
  HEED_ASSERT(!tokens.empty());
  std::vector<int32_t> again;
  if (spec_.positions == Positions::kLearned) {
    const auto context = static_cast<size_t>(spec_.context);
    history_.insert(history_.end(), tokens.begin(), tokens.end());
    if (history_.size() > context) {
      // There is no place after the last one: the newer half of the text is read again from place 0.
      again.assign(history_.end() - static_cast<std::ptrdiff_t>(std::max<size_t>(1, context / 2)),
                   history_.end());
      cursor_->restart();
      history_ = again;
      tokens = again;
    }
  }
  Form* last = nullptr;
  while (!tokens.empty()) {
    // A chunk takes its places whole, padding too; where the context has fewer left, tokens go one by one.
    const bool fits =
        spec_.positions != Positions::kLearned || cursor_->seen() + chunk_.use.length <= spec_.context;
    last = tokens.size() > 1 && fits ? &chunk_ : &step_;
    const auto taken = std::min(tokens.size(), static_cast<size_t>(last->use.length));
    run(*last, tokens.first(taken));
    tokens = tokens.subspan(taken);
  }
  return last->program->tensor(last->model.scores).floats();
}

}  // namespace heed::infer
