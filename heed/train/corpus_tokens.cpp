#include "heed/train/corpus_tokens.h"

#include <algorithm>

namespace heed::train {

using data::Split;

CorpusTokens::CorpusTokens(data::Corpus text, std::unique_ptr<data::Tokenizer> vocabulary,
                           std::filesystem::path folder)
    : corpus(std::move(text)), tokenizer(std::move(vocabulary)), cache(std::move(folder)) {}

const data::TokenStream& CorpusTokens::stream(Split split) const {
  std::unique_ptr<data::TokenStream>& stream = streams_[static_cast<size_t>(split)];
  if (!stream) stream = std::make_unique<data::TokenStream>(corpus.part(split), *tokenizer, cache);
  return *stream;
}

CorpusTokens open_tokens_of_model(const spec::DataSpec& data, const std::filesystem::path& path,
                                  const std::filesystem::path& model, const std::filesystem::path& cache) {
  return {data::open_corpus(path, data.reader, data.unwrap), data::load_tokenizer(model), cache};
}

CorpusTokens open_tokens(const spec::DataSpec& spec, const std::filesystem::path& path,
                         const std::filesystem::path& tokenizer_path, const std::filesystem::path& cache) {
  CorpusTokens result{data::open_corpus(path, spec.reader, spec.unwrap), nullptr, cache};
  if (!tokenizer_path.empty() && std::filesystem::exists(tokenizer_path)) {
    result.tokenizer = data::load_tokenizer(tokenizer_path);
    return result;
  }
  std::vector<Split> splits = {Split::kTrain};
  if (data::tokenizers().find(spec.tokenizer).all_parts) {
    for (Split split : {Split::kValid, Split::kTest}) {
      if (result.corpus.has(split)) splits.push_back(split);
    }
  }
  result.tokenizer = data::learn_tokenizer({spec.tokenizer, spec.vocabulary, spec.newline, spec.cased},
                                           result.corpus.text(splits));
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

int64_t seen_before(const spec::TrainingSpec& training, const data::Batches& batches, int64_t index) {
  return (training.restart_memory ? index % batches.segments() : index) * training.length;
}

}  // namespace heed::train
