#include "heed/cli/recipe_flags.h"

#include <algorithm>

#include "heed/data/readers.h"
#include "heed/data/tokenizer.h"

namespace heed::cli {

void RecipeFlags::declare(Flags& flags) {
  flags.option("tokenizer", tokenizer_, data::tokenizers().names() + "; instead of the recipe's");
  flags.option("vocabulary", vocabulary_, "size of the vocabulary to learn");
  flags.option("reader", reader_, "how the text is split: " + data::readers().names());
  flags.flag("unwrap", unwrap_,
             "join the lines of each paragraph, for hard-wrapped books: otherwise the likeliest next token "
             "is often a line end");
  flags.options("set", settings_, "override any setting of the recipe, such as model.dropout=0.2; repeatable",
                "NAME=VALUE");
}

bool RecipeFlags::sets(const std::string& setting) const {
  return std::ranges::any_of(settings_,
                             [&](const std::string& given) { return given.starts_with(setting + "="); });
}

bool RecipeFlags::changes() const {
  return changes_vocabulary() || !reader_.empty() || unwrap_ || !settings_.empty();
}

spec::Recipe RecipeFlags::over(const spec::Recipe& recipe) const {
  if (!tokenizer_.empty()) refuse_both("tokenizer");
  if (vocabulary_) refuse_both("vocabulary");
  if (!reader_.empty()) refuse_both("reader");
  spec::Recipe changed = with_settings(recipe, settings_);
  if (!tokenizer_.empty()) {
    changed.data.tokenizer = tokenizer_;
    if (tokenizer_ != recipe.data.tokenizer) changed.data.vocabulary = 0;  // it was that of another kind
  }
  if (vocabulary_) changed.data.vocabulary = *vocabulary_;
  if (!reader_.empty()) changed.data.reader = reader_;
  changed.data.unwrap = changed.data.unwrap || unwrap_;
  data::readers().find(changed.data.reader);
  data::tokenizers().find(changed.data.tokenizer);
  return changed;
}

void RecipeFlags::refuse_both(const std::string& flag, const std::string& part) const {
  std::string field = flag;
  std::ranges::replace(field, '-', '_');
  if (sets(part + "." + field))
    throw usage_error("--", flag, " and --set ", part, ".", field,
                      " give the same setting; give one of them");
}

spec::Recipe RecipeFlags::with_vocabulary(spec::Recipe recipe, const std::string& verb,
                                          const char* advice) const {
  if (!changes_vocabulary()) return recipe;
  const data::TokenizerEntry& tokenizer = data::tokenizers().find(recipe.data.tokenizer);
  const int64_t size = recipe.data.vocabulary > 0 ? recipe.data.vocabulary : tokenizer.usual_size;
  if (size == 0)
    throw usage_error(verb, ": the size of a vocabulary of ", tokenizer.name, " depends on the text; give ",
                      advice);
  recipe.model.embedding.vocabulary = size;
  return recipe;
}

}  // namespace heed::cli
