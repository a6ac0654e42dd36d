// How well proxies rank the models of a table.
#pragma once

#include "heed/search/model_table.h"
#include "heed/search/proxies/sample.h"

namespace heed::search {

inline constexpr int64_t kPercents[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};

// Coefficients are 1 for a perfect ranking, and NaN if there are too few models.
struct Ranking {
  std::string proxy;
  double seconds = 0;  // to score all models
  double spearman = 0;
  std::vector<double> spearman_top, common_ratio;  // by kPercents
  std::optional<double> distance;                  // of the frontiers, if all models have a latency
  std::vector<double> scores;                      // of the rows with a perplexity, in their order
};

// Of the rows with a perplexity.
Ranking rank(const std::vector<TableRow>& rows, const Proxy& proxy, Sample& sample);
// The same for scores that are known, one for each row with a perplexity.
Ranking rank(const std::vector<TableRow>& rows, const std::string& proxy, std::vector<double> scores);

// Models with their perplexities and the scores of each proxy: ranking.json of a folder.
Json to_json(const std::vector<TableRow>& rows, const std::vector<Ranking>& rankings);

}  // namespace heed::search
