// The result of a search, and how it is written into its folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/measure/timing.h"
#include "heed/search/cost.h"
#include "heed/search/worth/moment.h"

namespace heed::search {

inline constexpr const char* kResultFile = "search.json";
inline constexpr const char* kRecommended = "best";  // the first of a model's picks
inline constexpr const char* kPickFile = "pick";     // the recipe of the recommended model
inline constexpr const char* kModelsFolder =
    "models";  // the recipes of all, and of what they are compared with

// One model of the result.
struct FoundModel {
  std::string name;  // "m07", or of a baseline
  Evaluated predicted;
  spec::ModelSpec model;
  int64_t planned = 0;       // bytes of the process that serves it
  measure::Timing measured;  // of the whole, for a prompt
  int64_t resident = 0;      // the same bytes, with those of a session as measured
  std::vector<std::string> picks;
  std::vector<Moment> trained = {};    // what a finalist reached on the text
  measure::Timing measured_step = {};  // of the whole, for one more token after the prompt

  measure::Timing measured_load = {};  // until it can read a prompt

  measure::Timing first_token() const;
  measure::Timing time(Objective objective) const;
};

struct SearchResult {
  std::vector<FoundModel> models;     // fastest first; within the limits and on the frontier, as measured
  std::vector<FoundModel> dominated;  // measured not to be better than another in anything
  std::vector<FoundModel> dropped;    // measured beyond a limit
  std::vector<FoundModel> baselines;  // without limits
  std::vector<FoundModel> rivals;  // published arrangements, scaled to the latency of the recommended model
  size_t evaluated = 0;            // candidates
  size_t frontier = 0;             // of them on the frontier, by prediction
  double seconds_profile = 0, seconds_fit = 0, seconds_search = 0, seconds_measure = 0, seconds_train = 0,
         seconds_compare = 0;

  // The recommended model; null if there is none.
  const FoundModel* recommended() const;
  FoundModel* recommended();
};

Json to_json(const FoundModel& model);
// The folder's search.json.
Json to_json(const SearchResult& result);

// A baseline is trained like the models it is compared with.
spec::Recipe baseline_recipe(const spec::Space& space, const std::string& name, const spec::ModelSpec& model);

// pareto.csv, frontier.csv, search.json, models/*.json and, for the recommended one, the recipe `pick`.
void write_result(const std::filesystem::path& folder, const spec::Space& space,
                  const std::vector<Evaluated>& frontier, const SearchResult& result);

}  // namespace heed::search
