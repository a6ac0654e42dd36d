// A recipe with what the command line changes of it.
#pragma once

#include "heed/cli/flags.h"
#include "heed/spec/recipe.h"

namespace heed::cli {

class RecipeFlags {
 public:
  // --tokenizer, --vocabulary, --reader, --unwrap and --set.
  void declare(Flags& flags);
  spec::Recipe over(const spec::Recipe& recipe) const;
  // The recipe with the vocabulary that its model will have, as far as that is known without the text. Throws
  // if another tokenizer was given whose vocabulary depends on the text; `advice` says what to give then.
  spec::Recipe with_vocabulary(spec::Recipe recipe, const std::string& verb, const char* advice) const;
  // Whether --set gives this setting, such as training.steps.
  bool sets(const std::string& setting) const;
  // Throws if the flag and --set give one setting.
  void refuse_both(const std::string& flag, const std::string& part = "data") const;
  // Whether the command line changes anything.
  bool changes() const;
  // Whether the command line says which vocabulary to learn.
  bool changes_vocabulary() const { return !tokenizer_.empty() || vocabulary_; }

 private:
  std::string tokenizer_, reader_;
  std::optional<int64_t> vocabulary_;
  std::vector<std::string> settings_;
  bool unwrap_ = false;
};

}  // namespace heed::cli
