// The best of a frontier, measured as a whole because sums of pieces are predictions: models that exceed a
// limit are dropped, dominated ones are set aside, and some of the rest are recommended.
#pragma once

#include "heed/search/records.h"
#include "heed/search/search_run.h"
#include "heed/search/worth/valuation.h"
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
  Valuation* valuation;  // null unless models are scored by a law
  measure::Yardstick& yardstick;
};

// Times whole models, interleaved. Rounds that are already recorded for this attempt are not repeated.
void measure_whole(const MeasuringTools& tools, const std::vector<FoundModel*>& models, int attempt = 0);

// Fills models, dominated, dropped and baselines of the result: some of the frontier, and all of `others`.
// Recorded measurements are not repeated.
void measure_frontier(const MeasuringTools& tools, const std::vector<Evaluated>& frontier,
                      const std::vector<Evaluated>& others, SearchResult& result);

}  // namespace heed::search
