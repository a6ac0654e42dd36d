// The input of scores that run a model: a minibatch of a text, or words as frequent as in text.
#pragma once

#include <filesystem>
#include <map>

#include "heed/search/proxies/proxies.h"

namespace heed::search {

struct SampleSettings {
  int64_t sequences = 16;
  int64_t steps = 100;
  std::string data;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("batch", sequences, "batch size of scores that run models");
    field("score_steps", steps, "training steps of partial_training");
    field("data", data,
          "text or folder for scores that run models and for training; default: random words by frequency");
  }
};
void validate(const SampleSettings& settings);

class Sample {
 public:
  // Tokens of the text are kept in the folder `cache`, which is created. `tick` is called before each model,
  // and while one is trained; it may throw to end that.
  Sample(
      const SampleSettings& settings, std::filesystem::path cache, std::function<void()> tick = [] {})
      : settings_(settings), cache_(std::move(cache)), tick_(std::move(tick)) {}

  // Throws if the proxy needs a text and none is given, or if the given one does not exist.
  void check(const Proxy& proxy) const;
  // The text is read as the recipe says, once for all models with the same vocabulary. Throws if it has
  // more words than the model.
  const ProxyInput& of(const spec::Recipe& recipe, int64_t length);
  // Throws if models with different vocabularies are scored by their losses on a text with too many unknown
  // words.
  double score(const Proxy& proxy, const spec::Recipe& recipe, int64_t length);
  // The settings, and the content of the text instead of its path.
  Json identity(const spec::Recipe& recipe);

 private:
  void check_comparable(const ProxyInput& batch);

  SampleSettings settings_;
  std::filesystem::path cache_;
  std::function<void()> tick_;
  std::map<std::string, uint64_t> text_hashes_;  // by reader
  std::map<std::string, ProxyInput> batches_;
  std::map<int64_t, data::TextCounts> held_out_;  // by the vocabulary that was asked for
};

// Words as frequent as in text.
ProxyInput drawn_batch(const spec::ModelSpec& model, int64_t sequences, int64_t length);

}  // namespace heed::search
