// How well proxies rank the models of a table.
#pragma once

#include <functional>

#include "heed/search/model_table.h"
#include "heed/search/proxies/sample.h"
#include "heed/search/score_log.h"
#include "heed/search/statistics.h"

namespace heed::search {

inline constexpr int64_t kPercents[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};

// A coefficient inside the best models by perplexity, and its bootstrap interval: the same for samples of all
// models, whose best are other ones. NaN if there are too few models.
struct Coefficient {
  double value = 0;
  Interval interval;
};

// Coefficients are 1 for a perfect ranking.
struct Ranking {
  std::string proxy;
  double seconds = 0;  // to score all models
  double spearman = 0;
  std::vector<Coefficient> spearman_top, common_ratio;  // by kPercents
  std::optional<double> distance;                       // of the frontiers, if all models have a latency
  std::vector<double> scores;                           // of the rows with a perplexity, in their order
};

// Scores of the rows with a perplexity, and the time that they took.
struct Scores {
  std::vector<double> values;
  double seconds = 0;
};
struct ScoringProgress {
  size_t done = 0, all = 0;  // models
  double share = 0;          // of the work
};
// Those in `log` are not computed again.
Scores score_models(const std::vector<TableRow>& rows, const Proxy& proxy, Sample& sample, ScoreLog& log,
                    const std::function<void(const ScoringProgress&)>& progress);
// Of a proxy that only counts.
Scores count_models(const std::vector<TableRow>& rows, const Proxy& proxy);

// Of the rows with a perplexity.
Ranking rank(const std::vector<TableRow>& rows, const std::string& proxy, Scores scores);

// How many models the best are, by kPercents.
std::vector<size_t> models_by_percent(const std::vector<TableRow>& rows);

// Spearman's coefficient by one score minus that by another, by kPercents. An interval that does not contain
// 0 says which score ranks better.
std::vector<Coefficient> difference(const std::vector<TableRow>& rows, const Ranking& ranking,
                                    const Ranking& from);

// Models with their perplexities and the scores of each proxy: ranking.json of a folder.
Json to_json(const std::vector<TableRow>& rows, const std::vector<Ranking>& rankings);

}  // namespace heed::search
