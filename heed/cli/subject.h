// What a verb works on: a recipe by name, a file, or the folder of a trained model.
#pragma once

#include <memory>

#include "heed/data/tokenizer.h"
#include "heed/model/weights.h"
#include "heed/spec/recipe.h"
#include "heed/store/model_folder.h"

namespace heed::cli {

struct Subject {
  spec::Recipe recipe;
  std::unique_ptr<store::ModelFolder> folder;  // null for a recipe
};

// A model folder, a run folder (its "model" is meant), a file or a name of a recipe.
Subject load_subject(const std::string& name);
// The same where weights are needed. Throws for a recipe and says how to train it.
Subject load_trained(const std::string& name);
// The weights of a folder, which must outlive the answer.
model::Source source_of(const store::ModelFolder& folder);
// Refuses a tokenizer other than the one that the model was trained with. Of a folder that does not say which
// that is, it refuses one with tokens that the model does not know.
void check_vocabulary(const Subject& subject, const data::Tokenizer& tokenizer);

}  // namespace heed::cli
