// Scores that estimate a model's quality before it is trained: higher is better. A new proxy is one file and
// one line in proxies.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/registry.h"
#include "heed/spec/recipe.h"
#include "heed/train/corpus_tokens.h"

namespace heed::search {

// For a score that trains: the text, the part of it that is held out, and the settings.
struct TrainingText {
  train::CorpusTokens tokens;
  data::Split held_out;
  spec::DataSpec data;
  spec::TrainingSpec training;
};

// What a score may use besides the model.
struct ProxyInput {
  int64_t sequences = 16, length = 192;
  std::vector<int32_t> tokens = {}, targets = {};  // [sequences, length]; empty where no score runs the model
  uint64_t seed = 1111;                            // of the weights and all other draws
  std::shared_ptr<const TrainingText> text = nullptr;  // null if none is given
  std::function<void()> tick = [] {};  // called between updates of a score that trains; may throw to end it
};

struct Proxy {
  std::string name;
  std::string meaning;
  bool runs = false;  // the model, on the batch; others only count
  double (*score)(const spec::ModelSpec& model, const ProxyInput& batch);
  // The same from sizes alone, rising with the decoder; null if sizes do not determine it.
  double (*of_counts)(int64_t decoder, int64_t total, int64_t width, int64_t embedding_width) = nullptr;
  bool needs_text = false;  // the batch must come from one
  bool by_law = false;      // the search applies a law of worth (worth/law.h); `score` is null
};
const Registry<Proxy>& proxies();

}  // namespace heed::search
