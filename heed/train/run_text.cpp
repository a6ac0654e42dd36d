#include "heed/train/run_text.h"

namespace heed::train {

CorpusTokens open_run_text(spec::Recipe& recipe, const std::filesystem::path& data,
                           const std::filesystem::path& folder,
                           const std::function<void(const std::string&)>& note) {
  CorpusTokens tokens = open_tokens(recipe.data, data, folder / "tokenizer.json", folder / "cache");
  for (const std::string& sentence : tokens.corpus.notes()) note(sentence);
  if (recipe.model.vocabulary != tokens.tokenizer->size()) {
    note(text("the text has a vocabulary of ", tokens.tokenizer->size(), "; the recipe's ",
              recipe.model.vocabulary, " is replaced by it"));
    recipe.model.vocabulary = tokens.tokenizer->size();
  }
  return tokens;
}

Json text_record(const CorpusTokens& tokens, const std::filesystem::path& data) {
  Json record = {{"path", std::filesystem::absolute(data).string()},
                 {"reader", tokens.corpus.reader()},
                 {"tokenizer", std::string(tokens.tokenizer->kind())}};
  for (data::Split split : data::kSplits) {
    if (tokens.corpus.has(split))
      record["hash"][enum_name(split)] = text(std::hex, tokens.corpus.part(split).hash());
  }
  return record;
}

void check_text(const store::RunFolder& folder, const Json& record) {
  const Json before = folder.record().value("data", Json());
  if (!before.is_object())
    throw usage_error(folder.path().string(), ": run.json does not say what the text is; is it damaged?");
  if (before.value("hash", Json()) == record.value("hash", Json())) return;
  throw usage_error(folder.path().string(), ": this run was begun with another text (",
                    before.value("path", Json()).dump(), "); use another folder, or the same text");
}

}  // namespace heed::train
