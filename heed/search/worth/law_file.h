// Laws on disk: those that come with heed's spaces, and those that `heed worth` has fitted.
#pragma once

#include <filesystem>

#include "heed/search/worth/law.h"
#include "heed/spec/space.h"

namespace heed::search {

inline constexpr const char* kLawFile = "law.json";

// What is assumed of a space before any of its models is trained: its own law, or that of `letters`.
Law prior_of(const spec::Space& space);

// The law of a file, of a folder of `heed worth`, or of that name among the spaces.
Law load_law(const std::string& name_or_path);

}  // namespace heed::search
