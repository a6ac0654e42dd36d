#include "heed/search/proxies/sample.h"

#include "heed/base/hash.h"
#include "heed/measure/words.h"
#include "heed/train/corpus_tokens.h"

namespace heed::search {
namespace {

ProxyInput text_batch(const spec::Recipe& recipe, const SampleSettings& settings, int64_t length,
                      const std::filesystem::path& cache) {
  std::filesystem::create_directories(cache);
  train::CorpusTokens tokens = train::open_tokens(recipe.data, settings.data, {}, cache);
  if (tokens.tokenizer->size() > recipe.model.embedding.vocabulary)
    throw usage_error(settings.data, " has a vocabulary of ", tokens.tokenizer->size(), ", the model one of ",
                      recipe.model.embedding.vocabulary,
                      "; give the text that the models are for, or a smaller one");
  const auto held_out = tokens.corpus.has(data::Split::kValid) ? data::Split::kValid : data::Split::kTrain;
  auto text =
      std::make_shared<TrainingText>(TrainingText{std::move(tokens), held_out, recipe.data, recipe.training});
  text->training.steps = settings.steps;
  text->training.warmup = settings.steps / 10;
  ProxyInput batch{settings.sequences, length};
  batch.tokens.resize(static_cast<size_t>(settings.sequences * length));
  batch.targets.resize(batch.tokens.size());
  data::StreamBatches batches(text->tokens.stream(data::Split::kTrain), {settings.sequences, length, 1},
                              {.short_segment = false});
  batches.fill(0, 0, {batch.tokens, batch.targets});
  batch.text = std::move(text);
  return batch;
}

}  // namespace

void validate(const SampleSettings& settings) {
  if (settings.sequences < 1) throw usage_error("--batch is ", settings.sequences, "; it must be positive");
  if (settings.steps < 1) throw usage_error("--score-steps is ", settings.steps, "; it must be positive");
}

void Sample::check(const Proxy& proxy) const {
  if (proxy.by_law && !proxy.score)
    throw usage_error(proxy.name,
                      " is a law fitted to a text; `heed search` applies it, and `heed worth` says "
                      "how well it ranks models");
  if (proxy.needs_text && settings_.data.empty())
    throw usage_error(proxy.name, " learns from a text; give one with --data PATH");
  if (!settings_.data.empty() && !std::filesystem::exists(settings_.data))
    throw usage_error("--data ", settings_.data, " does not exist");
}

const ProxyInput& Sample::of(const spec::Recipe& recipe, int64_t length) {
  const std::string key = text(length, " ", recipe.model.embedding.vocabulary, " ",
                               to_json(recipe.data).dump(), to_json(recipe.training).dump());
  auto found = batches_.find(key);
  if (found == batches_.end()) {
    found = batches_
                .emplace(key, settings_.data.empty() ? drawn_batch(recipe.model, settings_.sequences, length)
                                                     : text_batch(recipe, settings_, length, cache_))
                .first;
    found->second.tick = tick_;
  }
  return found->second;
}

Json Sample::identity(const spec::Recipe& recipe) {
  Json all = heed::to_json(settings_);
  if (settings_.data.empty()) return all;
  const auto [hash, is_new] = text_hashes_.try_emplace(recipe.data.reader);
  if (is_new) {
    const data::Corpus corpus = data::open_corpus(settings_.data, recipe.data.reader);
    for (const data::Split split : data::kSplits) {
      if (corpus.has(split)) hash->second = hash_bytes(hash_name(corpus.part(split).hash()), hash->second);
    }
  }
  all["data"] = hash_name(hash->second);
  return all;
}

double Sample::score(const Proxy& proxy, const spec::Recipe& recipe, int64_t length) {
  check(proxy);
  tick_();
  if (!proxy.runs) return proxy.score(recipe.model, {1, length});
  const ProxyInput& batch = of(recipe, length);
  if (proxy.needs_text) check_comparable(batch);
  return proxy.score(recipe.model, batch);
}

void Sample::check_comparable(const ProxyInput& batch) {
  const TrainingText& text = *batch.text;
  held_out_.try_emplace(text.data.vocabulary, text.tokens.stream(text.held_out).counts());
  if (held_out_.size() == 1) return;  // per byte or per token, their order is the same
  for (const auto& [vocabulary, counts] : held_out_) {
    if (!counts.comparable())
      throw usage_error(settings_.data, " with a vocabulary of ", vocabulary, ": ", counts.what_is_missing(),
                        ", so that its losses do not compare with those of other vocabularies; give models "
                        "with one vocabulary, or with bpe or bytes");
  }
}

ProxyInput drawn_batch(const spec::ModelSpec& model, int64_t sequences, int64_t length) {
  ProxyInput batch{sequences, length};
  batch.tokens.resize(static_cast<size_t>(sequences * length));
  batch.targets.resize(batch.tokens.size());
  measure::draw_words(batch.tokens, model.cluster_ends(), 1);
  measure::draw_words(batch.targets, model.cluster_ends(), 2);
  return batch;
}

}  // namespace heed::search
