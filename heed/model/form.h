// The form of a graph: what it is run for, and on how many tokens. The same model is built in different forms
// for training, scoring and generating.
#pragma once

#include <cstdint>
#include <variant>

#include "heed/spec/model_spec.h"
#include "heed/spec/training_spec.h"

namespace heed::model {

// What a graph computes last.
enum class GraphEnd {
  kLoss,       // losses of all tokens and their mean
  kScores,     // logits or log-probabilities after every token
  kNextToken,  // the same after one token of each sequence, given by Inputs::scored_row
};

enum class WeightForm {
  kPlain,   // as files hold them
  kPacked,  // matrices in the order that products read them; no gradients
};

// What a graph keeps of earlier runs, besides the cells of recurrences.
struct Past {
  enum class Kind {
    kNone,
    kMemory,  // each block's input, projected again in every run, as training needs and the papers do
    kCache,   // keys and values, made once: exact while weights do not change
  } kind = Kind::kNone;
  int64_t length = 0;  // M, tokens before the segment that attention sees
  int64_t rows = 0;    // of each cache; 0: M + T
};
inline Past memory(int64_t length) {
  return {length > 0 ? Past::Kind::kMemory : Past::Kind::kNone, length, 0};
}
inline Past cache(int64_t length, int64_t rows = 0) { return {Past::Kind::kCache, length, rows}; }

// Which keys a token sees, and how distances to them are counted.
struct Protocol {
  Visible visible = Visible::kAll;
  int64_t clamp = 0;  // distances beyond this count as this; 0: no limit
  int64_t reach = 0;  // distances that relative attention knows; 0: M + T
};

// What a graph is run for. Each has only the settings that make sense for it.
struct Inference {
  GraphEnd end = GraphEnd::kLoss;
  WeightForm weights = WeightForm::kPlain;
  Past past = {};
  Protocol protocol = {};
};
// Losses of one chunk of a batch, with dropout. Each chunk has its own memory.
struct Training {
  int64_t memory = 0;
  int64_t chunks = 1;
};
// Losses, and the product of each matrix as a separate value (Model::products).
struct Observation {};

struct GraphForm {
  std::variant<Inference, Training, Observation> purpose = {};
  int64_t sequences = 1;  // B
  int64_t length = 1;     // T

  bool trains() const { return std::holds_alternative<Training>(purpose); }
  bool observes() const { return std::holds_alternative<Observation>(purpose); }
  bool packs() const { return inference().weights == WeightForm::kPacked; }
  bool caches() const { return inference().past.kind == Past::Kind::kCache; }
  GraphEnd end() const { return inference().end; }
  const Protocol& protocol() const { return inference().protocol; }
  int64_t memory() const { return trains() ? training().memory : inference().past.length; }
  int64_t chunks() const { return trains() ? training().chunks : 1; }
  int64_t cache_rows() const { return inference().past.rows ? inference().past.rows : memory() + length; }
  int64_t distances() const { return protocol().reach ? protocol().reach : memory() + length; }

 private:
  const Training& training() const { return std::get<Training>(purpose); }
  const Inference& inference() const;  // the defaults for other purposes
};

// A segment of each sequence.
struct Segment {
  int64_t sequences = 1, length = 1, memory = 0;
};

// One chunk of a batch, with its losses.
GraphForm training_form(const spec::TrainingSpec& training);
GraphForm observation_form(int64_t sequences, int64_t length);
// A segment of each stream, with its losses. With learned positions nothing is kept: they start again with
// every segment.
GraphForm scoring_form(const spec::ModelSpec& model, const spec::EvaluationSpec& protocol,
                       WeightForm weights);
// A whole text, and the scores after it.
GraphForm prompt_form(int64_t length);
// Texts that are read at once, padded to one length, and the scores of all their tokens.
GraphForm reading_form(int64_t sequences, int64_t length);
// `length` tokens of a text that continues, read one by one or up to `chunk` at once. `memory`: tokens that
// attention sees before the current one; with learned positions it is the model's context.
GraphForm generation_form(const spec::ModelSpec& model, int64_t memory, int64_t chunk, int64_t length);
// A segment whose memory is projected again in every run, as reference code does.
GraphForm recomputing_form(const Segment& segment, GraphEnd end, WeightForm weights);
// A segment whose keys and values are cached where positions allow it, with packed weights.
GraphForm caching_form(const spec::ModelSpec& model, const Segment& segment, GraphEnd end);

}  // namespace heed::model
