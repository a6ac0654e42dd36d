#include "heed/model/cursor.h"

#include <algorithm>
#include <cstring>

namespace heed::model {

Cursor::Cursor(const Model& model, const GraphForm& form, const graph::NamedTensors& states) : form_(form) {
  for (const State& state : model.states) {
    if (state.kind == State::Kind::kCache) caches_.push_back(states.at(state.name));
    if (state.kind == State::Kind::kCell) cells_.push_back(states.at(state.name));
  }
}

void Cursor::restart() {
  seen_ = row_ = 0;
  for (const Tensor& cell : cells_) std::fill(cell.floats().begin(), cell.floats().end(), 0.f);
}

void Cursor::prepare(const InputSpans& inputs, const GraphForm& form) {
  if (form.caches() && row_ + form.length > form.cache_rows()) make_room();
  set_position(inputs, form, {.seen = seen_, .row = row_});
}

void Cursor::advance(int64_t tokens) {
  seen_ += tokens;
  row_ += tokens;
}

// Each row moves once per (rows - memory) tokens: with as many spare rows as memory, once in total.
void Cursor::make_room() {
  const int64_t kept = std::min(form_.memory(), row_), from = row_ - kept;
  for (const Tensor& cache : caches_) {  // [B, rows, W]
    const int64_t rows = cache.shape().dim(1), width = cache.shape().dim(2);
    for (int64_t b = 0; b < cache.shape().dim(0); ++b) {
      float* sequence = cache.f32() + b * rows * width;
      std::memmove(sequence, sequence + from * width, static_cast<size_t>(4 * kept * width));
    }
  }
  row_ = kept;
}

}  // namespace heed::model
