// A run that learns from a text, in a folder: the text is opened and the recipe adapted to it; a resumed run
// must have the same text.
#pragma once

#include <functional>
#include <memory>

#include "heed/data/batches.h"
#include "heed/store/run_folder.h"
#include "heed/train/corpus_tokens.h"

namespace heed::train {

// Files that several runs on the same text share.
struct SharedText {
  std::filesystem::path tokenizer;  // the vocabulary of a new run; learned from the text if empty
  std::filesystem::path cache;      // folder of the tokens; the run's own if empty
};

class TextRun {
 public:
  // Opens the text with the vocabulary in the folder, if it already exists, and gives the recipe's model that
  // many words. `note` gets messages for the user. Throws if the folder is of another kind of run.
  TextRun(store::RunKind kind, const spec::Recipe& recipe, const std::filesystem::path& data,
          const std::filesystem::path& folder, const std::function<void(const std::string&)>& note,
          const SharedText& shared = {});

  // The recipe's steps become those of so many passes over the training text; a part of an update counts as
  // one. Call it before `open`.
  void train_for_epochs(double epochs);

  // Opens the folder (store/run_folder.h). `prepare` does what may still throw; if it does, or if the run
  // was started with another text, a new folder is emptied.
  void open(const Json& config, Json record, const store::Reopening& reopening,
            const std::function<void()>& prepare);

  const spec::Recipe& recipe() const { return recipe_; }
  const CorpusTokens& tokens() const { return tokens_; }
  // Once it is open:
  store::RunFolder& folder() { return *folder_; }
  data::Batches& batches() { return *batches_; }

 private:
  void check_text(const Json& record) const;

  store::RunKind kind_;
  std::filesystem::path data_, path_;
  spec::Recipe recipe_;
  CorpusTokens tokens_;
  std::unique_ptr<store::RunFolder> folder_;
  std::unique_ptr<data::Batches> batches_;
};

}  // namespace heed::train
