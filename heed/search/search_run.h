// A search from a space to models: the device is profiled, a strategy proposes, every evaluation is recorded
// the moment it is made, and the best are measured as a whole before they are reported. Killed and started
// again it resumes and ends the same.
#pragma once

#include "heed/search/profiled_costs.h"
#include "heed/search/search_request.h"
#include "heed/search/search_result.h"
#include "heed/search/worth/short_training.h"

namespace heed::search {

class SearchObserver : public ShortTrainingObserver {
 public:
  virtual void profiling(const ProfileProgress& progress) = 0;
  // most: candidates that the strategy may propose; 0 if it does not know.
  virtual void searching(size_t evaluated, size_t most) = 0;
  virtual void searching_share(double share) = 0;  // of a proposal that takes long
  virtual void measuring(size_t done, size_t all) = 0;
};

// Leaves in the folder: heed.db (every evaluation and measurement), blocks.json (what models are made of),
// pareto.csv, frontier.csv, search.json, models/*.json and, for the recommended one, the recipe `pick`.
// If nothing fits, throws an infeasible Error that says which limit is too tight and which model comes
// nearest.
SearchResult run_search(const SearchRequest& request, SearchObserver& observer);

}  // namespace heed::search
