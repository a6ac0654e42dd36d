// The text of a run: opened, fitted to the recipe, and the same one whenever the run goes on.
#pragma once

#include <functional>

#include "heed/store/run_folder.h"
#include "heed/train/corpus_tokens.h"

namespace heed::train {

// Opens the text with the vocabulary in the folder, if it is there already, and gives the recipe's model that
// many words. `note` is told what the user should know.
CorpusTokens open_run_text(spec::Recipe& recipe, const std::filesystem::path& data,
                           const std::filesystem::path& folder,
                           const std::function<void(const std::string&)>& note);

// What run.json says about the text, as "data".
Json text_record(const CorpusTokens& tokens, const std::filesystem::path& data);
// An Error if the run in the folder was begun with another one.
void check_text(const store::RunFolder& folder, const Json& record);

}  // namespace heed::train
