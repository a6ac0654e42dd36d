// The inputs of a model's program that say how it is run. What it reads is its batch (Model::batch).
#pragma once

#include <span>

#include "heed/graph/program.h"
#include "heed/model/form.h"

namespace heed::model {

// Ids of the inputs; kNone where a graph has no such input.
struct Inputs {
  graph::ValueId key_range;        // i32 [2]: index of the first query among the keys, first key that exists
  graph::ValueId cache_row;        // i32 [1]: row of the caches where the segment is written
  graph::ValueId first_position;   // i32 [1]: position of the first token in the text
  graph::ValueId token_positions;  // i32 [B, T]: position of every token
  graph::ValueId scored_row;       // i32 [1]: token of the segment whose scores are wanted
  graph::ValueId chunk;            // i32 [1]: chunk of the batch
  graph::ValueId rng;              // i32 [4]: seed and number of the run
  graph::ValueId temperature;      // f32 [1]: divides a supernet's logits
};

// The memory of the inputs of one program, resolved once; empty where it has no such input.
struct InputSpans {
  InputSpans() = default;
  InputSpans(const graph::Program& program, const Inputs& inputs);

  std::span<int32_t> key_range, cache_row, first_position, token_positions, scored_row, chunk, rng;
  std::span<float> temperature;
};

// The position of a program in its text.
struct TextPosition {
  int64_t seen = 0;  // tokens of earlier runs
  int64_t row = 0;   // first row of the caches for the next tokens
};
void set_position(const InputSpans& inputs, const GraphForm& form, const TextPosition& position);
// Random numbers of a run are a function of these.
void set_rng(const InputSpans& inputs, uint64_t seed, uint64_t number);

}  // namespace heed::model
