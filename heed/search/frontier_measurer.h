// The best of a frontier, measured as a whole because sums of pieces are predictions: models that exceed a
// limit are dropped, dominated ones are set aside, and some of the rest are recommended.
#pragma once

#include "heed/search/records.h"
#include "heed/search/search_run.h"
#include "heed/store/run_folder.h"

namespace heed::search {

// The parts of the search that measuring uses.
struct MeasuringTools {
  const SearchRequest& request;
  SearchObserver& observer;
  const store::RunFolder& folder;
  Records& records;
  Sample& sample;
  ProfiledCosts& costs;
  measure::Yardstick& yardstick;
};

// Fills models, dominated, dropped and baselines of the result. Recorded measurements are
// not repeated.
void measure_frontier(const MeasuringTools& tools, const std::vector<Evaluated>& frontier,
                      SearchResult& result);

}  // namespace heed::search
