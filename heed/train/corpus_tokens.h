// A corpus with its vocabulary, for training and scoring.
#pragma once

#include <array>
#include <filesystem>
#include <memory>

#include "heed/data/batches.h"
#include "heed/data/corpus.h"
#include "heed/data/tokenizer.h"
#include "heed/spec/recipe.h"

namespace heed::train {

struct CorpusTokens {
  CorpusTokens(data::Corpus text, std::unique_ptr<data::Tokenizer> vocabulary, std::filesystem::path folder);

  data::Corpus corpus;
  std::unique_ptr<data::Tokenizer> tokenizer;
  std::filesystem::path cache;

  // The tokens of a part, made or opened when they are first asked for.
  const data::TokenStream& stream(data::Split split) const;

 private:
  mutable std::array<std::unique_ptr<data::TokenStream>, data::kSplits.size()> streams_ = {};
};

// Opens the text with the vocabulary of a model's folder, which must have one.
CorpusTokens open_tokens_of_model(const spec::DataSpec& data, const std::filesystem::path& path,
                                  const std::filesystem::path& model, const std::filesystem::path& cache);
// Opens the text; the vocabulary is that of `tokenizer_path` if it exists, otherwise learned from the text
// as the recipe says: characters from all parts, as is usual, the others from the training part.
CorpusTokens open_tokens(const spec::DataSpec& spec, const std::filesystem::path& path,
                         const std::filesystem::path& tokenizer_path, const std::filesystem::path& cache);

// How held-out text is scored during training: in the same form as training reads text, so that the losses
// compare.
spec::EvaluationSpec held_out_protocol(const spec::TrainingSpec& training, const data::TokenStream& valid);

// Tokens of the current streams before update `index`, which counts from 0.
int64_t seen_before(const spec::TrainingSpec& training, const data::Batches& batches, int64_t index);

}  // namespace heed::train
