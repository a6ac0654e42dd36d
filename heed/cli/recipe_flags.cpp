#include "heed/cli/recipe_flags.h"

#include "heed/data/readers.h"
#include "heed/data/tokenizer.h"

namespace heed::cli {

void RecipeFlags::declare(Flags& flags) {
  flags.option("tokenizer", tokenizer_, data::tokenizers().names() + "; instead of the recipe's");
  flags.option("vocabulary", vocabulary_, "size of the vocabulary to learn");
  flags.option("reader", reader_, "how the text is split: " + data::readers().names());
  flags.flag("unwrap", unwrap_,
             "join the lines of a paragraph: in a hard-wrapped book the likeliest next token would often be "
             "a line end");
  flags.options("set", settings_,
                "any setting of the recipe, such as model.dropout=0.2; may be given several times",
                "NAME=VALUE");
}

spec::Recipe RecipeFlags::over(const spec::Recipe& recipe) const {
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

spec::Recipe RecipeFlags::with_vocabulary(spec::Recipe recipe, const std::string& verb) const {
  if (!changes_vocabulary()) return recipe;
  const data::TokenizerEntry& tokenizer = data::tokenizers().find(recipe.data.tokenizer);
  const int64_t size = recipe.data.vocabulary > 0 ? recipe.data.vocabulary : tokenizer.usual_size;
  if (size == 0)
    throw usage_error(verb, ": how large the vocabulary of ", tokenizer.name,
                      " is, only the text tells; give --vocabulary, or the text with --data");
  recipe.model.embedding.vocabulary = size;
  return recipe;
}

}  // namespace heed::cli
