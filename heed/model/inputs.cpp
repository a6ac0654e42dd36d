#include "heed/model/inputs.h"

#include <algorithm>

namespace heed::model {
namespace {

void set(std::span<int32_t> input, std::initializer_list<int64_t> values) {
  if (input.empty()) return;
  std::transform(values.begin(), values.end(), input.begin(),
                 [](int64_t value) { return static_cast<int32_t>(value); });
}

}  // namespace

InputSpans::InputSpans(const graph::Program& program, const Inputs& inputs) {
  const auto ints = [&](graph::ValueId id) { return id ? program.tensor(id).ints() : std::span<int32_t>(); };
  key_range = ints(inputs.key_range), cache_row = ints(inputs.cache_row);
  first_position = ints(inputs.first_position), token_positions = ints(inputs.token_positions);
  scored_row = ints(inputs.scored_row), chunk = ints(inputs.chunk), rng = ints(inputs.rng);
  if (inputs.temperature) temperature = program.tensor(inputs.temperature).floats();
}

void set_position(const InputSpans& inputs, const GraphForm& form, const TextPosition& position) {
  const int64_t M = form.memory();
  if (form.caches()) {
    set(inputs.cache_row, {position.row});
    set(inputs.key_range, {position.row, std::max<int64_t>(0, position.row - M)});
  } else {
    set(inputs.key_range, {M, M - std::min(M, position.seen)});
  }
  // Without caches learned positions start again with every segment.
  const int64_t first = form.caches() ? position.seen : 0;
  set(inputs.first_position, {first});
  for (size_t i = 0; i < inputs.token_positions.size(); ++i)
    inputs.token_positions[i] = static_cast<int32_t>(first + static_cast<int64_t>(i) % form.length);
}

void set_rng(const InputSpans& inputs, uint64_t seed, uint64_t number) {
  set(inputs.rng, {static_cast<int32_t>(seed), static_cast<int32_t>(seed >> 32), static_cast<int32_t>(number),
                   static_cast<int32_t>(number >> 32)});
}

}  // namespace heed::model
