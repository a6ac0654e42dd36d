// How long the blocks of a recipe take on this device, from its profile, which is completed if necessary.
#pragma once

#include <filesystem>

#include "heed/search/profiled_costs.h"
#include "heed/search/supernet/supernet.h"

namespace heed::search {

BlockTimes block_times(const spec::Recipe& recipe, const std::string& letters,
                       const std::filesystem::path& profile,
                       const std::function<void(const ProfileProgress&)>& progress);

}  // namespace heed::search
