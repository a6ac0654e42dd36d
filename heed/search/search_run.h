// A search from a space to models: the device is profiled, a strategy proposes, every evaluation is recorded
// the moment it is made, and the best are measured as a whole before they are reported. Killed and started
// again it resumes and ends the same.
#pragma once

#include <filesystem>

#include "heed/search/profiled_costs.h"
#include "heed/search/proxies/sample.h"
#include "heed/search/search_result.h"
#include "heed/search/strategies/strategies.h"
#include "heed/train/resuming.h"

namespace heed::search {

struct SearchRequest {
  spec::Space space;
  Limits limits;
  std::string strategy = "exact";
  Json settings = Json::object();  // of the strategy; only those given
  std::string proxy = "effective_params";
  SampleSettings sample;     // for a proxy that runs models
  bool measure_all = false;  // each candidate as a whole, instead of the sum of its pieces
  int64_t keep = 24;         // models of the frontier to measure and report, about
  bool baselines = true;     // measured beside them
  std::filesystem::path folder;
  std::filesystem::path profile;  // database of the device's profile
  Json record;                    // for run.json
};

class SearchObserver : public train::ResumableObserver {
 public:
  virtual void profiling(const ProfileProgress& progress) = 0;
  virtual void searching(size_t evaluated) = 0;
  virtual void searching_share(double share) = 0;  // of a proposal that takes long
  virtual void measuring(size_t done, size_t all) = 0;
};

// Leaves in the folder: heed.db (every evaluation and measurement), blocks.json (what models are made of),
// pareto.csv, frontier.csv, search.json, models/*.json and, for the recommended one, the recipe `pick`.
// If nothing fits, throws an infeasible Error that says which limit is in the way and which model comes
// nearest.
SearchResult run_search(const SearchRequest& request, SearchObserver& observer);

}  // namespace heed::search
