// What a search is asked for: limits, strategy, score, time; what config.json keeps of it, and what is
// refused.
#pragma once

#include <filesystem>
#include <optional>

#include "heed/search/proxies/sample.h"
#include "heed/search/strategies/strategies.h"

namespace heed::search {

struct SearchRequest {
  spec::Space space;
  Limits limits;
  Objective objective = Objective::kPrompt;  // the latency that models should be low in
  double percentile = 50;                    // of the runs of a model that stay below the limits on time
  std::string strategy = "exact";
  Json settings = Json::object();  // of the strategy; only those given
  std::string proxy;         // worth if there is a law or a time to fit one, else effective_params, if ""
  std::string law;           // of worth: a name, a file or a folder; the space's if ""
  int64_t train_tokens = 0;  // that the model found will be trained on; the space's training if 0
  std::optional<double> train_time;  // seconds to train it in: as many tokens as are best then; with a text
  // With worth and a text: seconds to fit a law to the text if none is given, and to train finalists on it. 0
  // for neither; if not set, usual_fit and usual_finalists.
  std::optional<double> fit, finalists;
  double compare = 0;          // seconds to train published arrangements of the same latency on the text
  SampleSettings sample;       // for a proxy that runs models
  bool measure_all = false;    // each candidate as a whole, instead of the sum of its pieces
  int64_t keep = 24;           // models of the frontier to measure and report, about
  bool baselines = true;       // measured beside them
  bool measure_again = false;  // models that were measured before, because the machine was busy then
  std::filesystem::path folder;
  std::filesystem::path profile;  // database of the device's profile
  Json record;                    // for run.json
};

// With everything filled in that may be left out.
SearchRequest resolved(SearchRequest request);

// Throws if something is missing or contradicts something else.
void check_request(const SearchRequest& request);

bool by_law(const SearchRequest& request);
// The share of runs that stays below the limits on time.
inline double share_within(const SearchRequest& request) { return request.percentile / 100; }
// Whether the score follows from the sizes of a model.
bool by_counts(const SearchRequest& request);
bool fits_law(const SearchRequest& request);  // if there is time enough
bool trains_finalists(const SearchRequest& request);

// As config.json has it; `settings` are the strategy's, resolved.
Json config_of(const SearchRequest& request, const Json& settings);
// That of an earlier version, as this one writes it.
Json upgraded_config(const Json& before);
// The request of a folder's config.json. Where the folder and the profile are, it does not say.
SearchRequest request_of(const Json& config);

}  // namespace heed::search
