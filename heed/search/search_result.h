// The result of a search, and how it is written into its folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/measure/timing.h"
#include "heed/search/cost.h"

namespace heed::search {

// One model of the result.
struct FoundModel {
  std::string name;  // "m07", or of a baseline
  Evaluated predicted;
  spec::ModelSpec model;
  int64_t planned = 0;       // bytes, of the whole
  measure::Timing measured;  // of the whole
  int64_t resident = 0;      // bytes the process grew by
  std::vector<std::string> picks;
};

struct SearchResult {
  std::vector<FoundModel> models;     // fastest first; within the limits and on the frontier, as measured
  std::vector<FoundModel> dominated;  // measured not to be better than another in anything
  std::vector<FoundModel> dropped;    // measured beyond a limit
  std::vector<FoundModel> baselines;  // without limits
  size_t evaluated = 0;               // candidates
  size_t frontier = 0;                // of them on the frontier, by prediction
  double seconds_profile = 0, seconds_search = 0, seconds_measure = 0;
};

Json to_json(const FoundModel& model);
// The folder's search.json.
Json to_json(const SearchResult& result);

// A baseline is trained like the models it is compared with.
spec::Recipe baseline_recipe(const spec::Space& space, const std::vector<Evaluated>& frontier,
                             const std::string& name, const spec::ModelSpec& model);

// pareto.csv, frontier.csv, search.json, models/*.json and, for the recommended one, the recipe `pick`.
void write_result(const std::filesystem::path& folder, const spec::Space& space,
                  const std::vector<Evaluated>& frontier, const SearchResult& result);

}  // namespace heed::search
