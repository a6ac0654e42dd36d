#include "heed/search/ranking.h"

#include "heed/base/clock.h"
#include "heed/search/statistics.h"

namespace heed::search {

Ranking rank(const std::vector<TableRow>& rows, const Proxy& proxy, Sample& sample) {
  std::vector<double> perplexity, score, latency;
  const double begin = now_seconds();
  for (const TableRow& row : rows) {
    if (!row.perplexity) continue;
    perplexity.push_back(*row.perplexity);
    score.push_back(sample.score(proxy, row.recipe, row.length));
    if (row.latency) latency.push_back(*row.latency);
  }
  Ranking ranking;
  ranking.proxy = proxy.name;
  ranking.seconds = now_seconds() - begin;
  ranking.spearman = spearman_of_best(perplexity, score, 100);
  for (const int64_t percent : kPercents) {
    ranking.spearman_top.push_back(spearman_of_best(perplexity, score, percent));
    ranking.common_ratio.push_back(common_ratio(perplexity, score, percent));
  }
  if (!latency.empty() && latency.size() == perplexity.size())
    ranking.distance = distance_of_frontiers(perplexity, score, latency);
  return ranking;
}

}  // namespace heed::search
