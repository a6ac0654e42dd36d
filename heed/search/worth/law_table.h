// Tables of trained models that laws of worth are fitted to: models.csv of `heed worth`, one row for each
// model and moment. Tables of several texts can be joined.
#pragma once

#include <filesystem>

#include "heed/search/worth/fit.h"
#include "heed/search/worth/short_training.h"
#include "heed/spec/space.h"

namespace heed::search {

inline constexpr const char* kLawTable = "models.csv";

// `text` names what the models were trained on.
std::string law_table(const std::vector<ShortTraining>& models, const std::string& text);

// The models of such a table at the end of their training. Blocks are counted as in `space`. Errors name the
// line.
std::vector<LawModel> read_law_table(const std::filesystem::path& path, const spec::Space& space);

}  // namespace heed::search
