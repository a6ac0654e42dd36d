#include "heed/train/text_run.h"

#include <algorithm>
#include <cmath>

#include "heed/base/hash.h"
#include "heed/store/json_file.h"
#include "heed/train/tasks.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerHash = "tokenizer_hash";

// What run.json says about the text, as "data".
Json text_record(const CorpusTokens& tokens, const fs::path& data) {
  Json record = {{"path", fs::absolute(data).string()},
                 {"reader", tokens.corpus.reader()},
                 {"tokenizer", std::string(tokens.tokenizer->kind())},
                 {kTokenizerHash, hash_name(tokens.tokenizer->hash())}};
  for (data::Split split : data::kSplits) {
    if (tokens.corpus.has(split))
      record["hash"][enum_name(split)] = text(std::hex, tokens.corpus.part(split).hash());
  }
  return record;
}

CorpusTokens opened(store::RunKind kind, const spec::Recipe& recipe, const fs::path& data,
                    const fs::path& folder, const SharedText& shared) {
  store::check_run_kind(folder, kind);  // before tokens are written there
  const fs::path own = folder / "tokenizer.json";
  return open_tokens(recipe.data, data, shared.tokenizer.empty() || fs::exists(own) ? own : shared.tokenizer,
                     shared.cache.empty() ? folder / store::kTokensFolder : shared.cache);
}

}  // namespace

TextRun::TextRun(store::RunKind kind, const spec::Recipe& recipe, const fs::path& data,
                 const fs::path& folder, const std::function<void(const std::string&)>& note,
                 const SharedText& shared)
    : kind_(kind),
      data_(data),
      path_(folder),
      recipe_(recipe),
      tokens_(opened(kind, recipe, data, folder, shared)) {
  for (const std::string& sentence : tokens_.corpus.notes()) note(sentence);
  if (recipe_.model.embedding.vocabulary == tokens_.tokenizer->size()) return;
  note(text("the vocabulary of the text has ", tokens_.tokenizer->size(),
            " tokens; it replaces the recipe's ", recipe_.model.embedding.vocabulary));
  recipe_.model.embedding.vocabulary = tokens_.tokenizer->size();
}

void TextRun::train_for_epochs(double epochs) {
  const auto batches = task_of(recipe_.model, recipe_.training).training_batches(recipe_, tokens_);
  recipe_.training.steps = static_cast<int64_t>(
      std::clamp(std::ceil(epochs * static_cast<double>(batches->segments())), 1., 0x1p62));
  validate(recipe_.training);
}

void TextRun::open(const Json& config, Json record, const store::Reopening& reopening,
                   const std::function<void()>& prepare) {
  record["data"] = text_record(tokens_, data_);
  folder_ = std::make_unique<store::RunFolder>(path_, kind_, config, record, reopening);
  folder_->begin([&] {
    check_text(record["data"]);
    store::write_json_object(path_ / "tokenizer.json", tokens_.tokenizer->to_json());
    batches_ = task_of(recipe_.model, recipe_.training).training_batches(recipe_, tokens_);
    prepare();
  });
}

void TextRun::check_text(const Json& record) const {
  const Json before = folder_->record().value("data", Json());
  if (!before.is_object())
    throw damaged_error(path_.string(), ": run.json does not say what the text is; is it damaged?");
  if (before.value("hash", Json()) != record.value("hash", Json()))
    throw usage_error(path_.string(), ": this run was started with another text (",
                      before.value("path", Json()).dump(), "); use another folder, or the same text");
  // Runs of earlier versions do not say it.
  if (before.contains(kTokenizerHash) && before[kTokenizerHash] != record[kTokenizerHash])
    throw usage_error(path_.string(),
                      ": its tokenizer.json is not the one that this run was started with (hash ",
                      record[kTokenizerHash].dump(), ", and ", before[kTokenizerHash].dump(),
                      " then); put that back, or use another folder");
}

}  // namespace heed::train
