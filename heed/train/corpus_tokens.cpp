#include "heed/train/corpus_tokens.h"

#include <algorithm>

#include "heed/data/sentence_batches.h"

namespace heed::train {

using data::Split;

data::TokenStream CorpusTokens::stream(Split split) const {
  return data::TokenStream(corpus.part(split), *tokenizer, cache);
}

CorpusTokens open_tokens_of_model(const spec::DataSpec& data, const std::filesystem::path& path,
                                  const std::filesystem::path& model, const std::filesystem::path& cache) {
  return {data::open_corpus(path, data.reader), data::load_tokenizer(model), cache};
}

CorpusTokens open_tokens(const spec::DataSpec& data, const std::filesystem::path& path,
                         const std::filesystem::path& tokenizer_path, const std::filesystem::path& cache) {
  CorpusTokens result{data::open_corpus(path, data.reader), nullptr, cache};
  if (!tokenizer_path.empty() && std::filesystem::exists(tokenizer_path)) {
    result.tokenizer = data::load_tokenizer(tokenizer_path);
    return result;
  }
  std::vector<Split> splits = {Split::kTrain};
  if (data.tokenizer == "characters") {
    for (Split split : {Split::kValid, Split::kTest}) {
      if (result.corpus.has(split)) splits.push_back(split);
    }
  }
  result.tokenizer =
      data::learn_tokenizer({data.tokenizer, data.vocabulary, data.newline}, result.corpus.text(splits));
  return result;
}

spec::EvaluationSpec held_out_protocol(const spec::TrainingSpec& training, const data::TokenStream& valid) {
  spec::EvaluationSpec protocol;
  protocol.length = training.length;
  protocol.memory = training.memory;
  const int64_t fitting = valid.size() / (4 * protocol.length);
  protocol.batch = std::clamp<int64_t>(fitting, 1, std::min<int64_t>(8, training.batch));
  return protocol;
}

std::unique_ptr<data::Batches> training_batches(const spec::Recipe& recipe, const data::TokenStream& stream) {
  const spec::TrainingSpec& training = recipe.training;
  const data::BatchShape shape{training.batch, training.length, training.chunks};
  const auto seed = static_cast<uint64_t>(training.seed);
  if (recipe.data.tokenizer == "lm1b") return std::make_unique<data::SentenceBatches>(stream, shape, seed);
  return std::make_unique<data::StreamBatches>(
      stream, shape, data::StreamOptions{.roll = training.roll, .seed = seed, .short_segment = false});
}

int64_t seen_before(const spec::TrainingSpec& training, const data::Batches& batches, int64_t index) {
  return (training.restart_memory ? index % batches.segments() : index) * training.length;
}

std::unique_ptr<data::Batches> scoring_batches(const spec::EvaluationSpec& protocol,
                                               const data::TokenStream& stream) {
  return std::make_unique<data::StreamBatches>(
      stream, data::BatchShape{protocol.batch, protocol.length, 1},
      data::StreamOptions{.warm_up_tokens = protocol.warm_up ? protocol.memory : 0});
}

}  // namespace heed::train
