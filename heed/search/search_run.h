// A search from a space to models: the device is profiled, a strategy proposes, every evaluation is recorded
// the moment it is made, and the best are measured as a whole before they are reported. Killed and started
// again it resumes and ends the same.
#pragma once

#include <filesystem>
#include <optional>

#include "heed/search/profiled_costs.h"
#include "heed/search/proxies/sample.h"
#include "heed/search/search_result.h"
#include "heed/search/strategies/strategies.h"
#include "heed/search/worth/short_training.h"

namespace heed::search {

struct SearchRequest {
  spec::Space space;
  Limits limits;
  Objective objective = Objective::kPrompt;  // the latency that models should be low in
  std::string strategy = "exact";
  Json settings = Json::object();  // of the strategy; only those given
  std::string proxy;         // worth if there is a law or a time to fit one, else effective_params, if ""
  std::string law;           // of worth: a name, a file or a folder; the space's if ""
  int64_t train_tokens = 0;  // that the model found will be trained on; the space's training if 0
  std::optional<double> train_time;  // seconds to train it in: as many tokens as are best then; with a text
  // With worth and a text: seconds to fit a law to the text if none is given, and to train finalists on it. 0
  // for neither; if not set, usual_fit and usual_finalists.
  std::optional<double> fit, finalists;
  double compare = 0;        // seconds to train published arrangements of the same latency on the text
  SampleSettings sample;     // for a proxy that runs models
  bool measure_all = false;  // each candidate as a whole, instead of the sum of its pieces
  int64_t keep = 24;         // models of the frontier to measure and report, about
  bool baselines = true;     // measured beside them
  std::filesystem::path folder;
  std::filesystem::path profile;  // database of the device's profile
  Json record;                    // for run.json
};

class SearchObserver : public ShortTrainingObserver {
 public:
  virtual void profiling(const ProfileProgress& progress) = 0;
  virtual void searching(size_t evaluated) = 0;
  virtual void searching_share(double share) = 0;  // of a proposal that takes long
  virtual void measuring(size_t done, size_t all) = 0;
};

// With everything filled in that may be left out.
SearchRequest resolved(SearchRequest request);

// Leaves in the folder: heed.db (every evaluation and measurement), blocks.json (what models are made of),
// pareto.csv, frontier.csv, search.json, models/*.json and, for the recommended one, the recipe `pick`.
// If nothing fits, throws an infeasible Error that says which limit is in the way and which model comes
// nearest.
SearchResult run_search(const SearchRequest& request, SearchObserver& observer);

}  // namespace heed::search
