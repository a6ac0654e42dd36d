#include "heed/search/ranking.h"

#include <cmath>

#include "heed/base/clock.h"
#include "heed/search/statistics.h"

namespace heed::search {

Ranking rank(const std::vector<TableRow>& rows, const Proxy& proxy, Sample& sample) {
  std::vector<double> scores;
  const double begin = now_seconds();
  for (const TableRow& row : rows) {
    if (row.perplexity) scores.push_back(sample.score(proxy, row.recipe, row.length));
  }
  const double seconds = now_seconds() - begin;
  Ranking ranking = rank(rows, proxy.name, std::move(scores));
  ranking.seconds = seconds;
  return ranking;
}

Ranking rank(const std::vector<TableRow>& rows, const std::string& proxy, std::vector<double> scores) {
  std::vector<double> perplexity, latency;
  for (const TableRow& row : rows) {
    if (!row.perplexity) continue;
    perplexity.push_back(*row.perplexity);
    if (row.latency) latency.push_back(*row.latency);
  }
  Ranking ranking;
  ranking.proxy = proxy;
  ranking.spearman = spearman_of_best(perplexity, scores, 100);
  for (const int64_t percent : kPercents) {
    ranking.spearman_top.push_back(spearman_of_best(perplexity, scores, percent));
    ranking.common_ratio.push_back(common_ratio(perplexity, scores, percent));
  }
  if (!latency.empty() && latency.size() == perplexity.size())
    ranking.distance = distance_of_frontiers(perplexity, scores, latency);
  ranking.scores = std::move(scores);
  return ranking;
}

Json to_json(const std::vector<TableRow>& rows, const std::vector<Ranking>& rankings) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  const auto list = [&](const std::vector<double>& values) {
    Json all = Json::array();
    for (const double value : values) all.push_back(number(value));
    return all;
  };
  Json models = Json::array(), proxies = Json::array();
  for (const TableRow& row : rows) {
    if (row.perplexity)
      models.push_back({{"id", row.id},
                        {"perplexity", *row.perplexity},
                        {"latency_ms", row.latency ? Json(1e3 * *row.latency) : Json()},
                        {"arch", row.recipe.model.arch},
                        {"total", model::count_parameters(row.recipe.model).total}});
  }
  for (const Ranking& r : rankings)
    proxies.push_back({{"name", r.proxy},
                       {"seconds", r.seconds},
                       {"spearman", number(r.spearman)},
                       {"spearman_top", list(r.spearman_top)},
                       {"common_ratio", list(r.common_ratio)},
                       {"distance", r.distance ? number(*r.distance) : Json()},
                       {"scores", list(r.scores)}});
  return {{"models", models}, {"percents", kPercents}, {"proxies", proxies}};
}

}  // namespace heed::search
