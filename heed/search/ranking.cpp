#include "heed/search/ranking.h"

#include <cmath>

#include "heed/base/clock.h"
#include "heed/base/hash.h"
#include "heed/base/threads.h"
#include "heed/base/version.h"

namespace heed::search {
namespace {

constexpr size_t kCount = std::size(kPercents);

// Of the rows that have a perplexity: what a coefficient is computed from.
struct Ranked {
  std::vector<double> perplexity, latency;

  explicit Ranked(const std::vector<TableRow>& rows) {
    for (const TableRow& row : rows) {
      if (!row.perplexity) continue;
      perplexity.push_back(*row.perplexity);
      if (row.latency) latency.push_back(*row.latency);
    }
  }
};

using Statistic = double (*)(std::span<const double> perplexity, std::span<const double> score,
                             int64_t percent);

std::vector<double> taken(const std::vector<double>& values, std::span<const size_t> drawn) {
  std::vector<double> some;
  for (const size_t i : drawn) some.push_back(values[i]);
  return some;
}

// A statistic of the perplexities and some scores, and its interval, for each of kPercents.
template <class Of>
std::vector<Coefficient> by_percent(const std::vector<double>& perplexity, const Of& of) {
  std::vector<size_t> every(perplexity.size());
  for (size_t i = 0; i < every.size(); ++i) every[i] = i;
  std::vector<Coefficient> all(kCount);
  parallel_for(kCount, thread_count(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    const auto value = [&](std::span<const size_t> drawn) {
      return of(taken(perplexity, drawn), drawn, kPercents[at]);
    };
    all[at] = {value(every), bootstrap(perplexity.size(), value)};
  });
  return all;
}

std::vector<Coefficient> by_percent(const std::vector<double>& perplexity, const std::vector<double>& score,
                                    Statistic statistic) {
  return by_percent(
      perplexity, [&](const std::vector<double>& drawn_perplexity, std::span<const size_t> drawn,
                      int64_t percent) { return statistic(drawn_perplexity, taken(score, drawn), percent); });
}

// Everything that the score of a model depends on, except the number of threads.
std::string key_of(const Proxy& proxy, const TableRow& row, Sample& sample) {
  const Json all = {{"version", version()},
                    {"proxy", proxy.name},
                    {"recipe", spec::to_json(row.recipe)},
                    {"length", row.length},
                    {"sample", sample.identity(row.recipe)}};
  return hash_name(hash_bytes(all.dump()));
}

double work_of(const TableRow& row) {
  return static_cast<double>(model::count_parameters(row.recipe.model).total);
}

}  // namespace

Scores score_models(const std::vector<TableRow>& rows, const Proxy& proxy, Sample& sample, ScoreLog& log,
                    const std::function<void(const ScoringProgress&)>& progress) {
  double work = 0, worked = 0;
  ScoringProgress now;
  for (const TableRow& row : rows) {
    if (row.perplexity) work += work_of(row), ++now.all;
  }
  Scores scores;
  for (const TableRow& row : rows) {
    if (!row.perplexity) continue;
    progress(now);
    const std::string key = key_of(proxy, row, sample);
    std::optional<TimedScore> score = log.find(key);
    if (!score) {
      const double begin = now_seconds();
      const double value = sample.score(proxy, row.recipe, row.length);
      score = {value, now_seconds() - begin};
      log.add(key, proxy.name, row.id, *score);
    }
    scores.values.push_back(score->value);
    scores.seconds += score->seconds;
    worked += work_of(row);
    now = {now.done + 1, now.all, worked / work};
  }
  progress(now);
  return scores;
}

Scores count_models(const std::vector<TableRow>& rows, const Proxy& proxy) {
  HEED_ASSERT(!proxy.runs && proxy.score);
  Scores scores;
  const double begin = now_seconds();
  for (const TableRow& row : rows) {
    if (row.perplexity) scores.values.push_back(proxy.score(row.recipe.model, {1, row.length}));
  }
  scores.seconds = now_seconds() - begin;
  return scores;
}

Ranking rank(const std::vector<TableRow>& rows, const std::string& proxy, Scores scores) {
  const Ranked ranked(rows);
  const auto& [perplexity, latency] = ranked;
  Ranking ranking;
  ranking.proxy = proxy;
  ranking.seconds = scores.seconds;
  ranking.spearman_top = by_percent(perplexity, scores.values, spearman_of_best);
  ranking.common_ratio = by_percent(perplexity, scores.values, common_ratio);
  ranking.spearman = ranking.spearman_top.back().value;
  if (!latency.empty() && latency.size() == perplexity.size())
    ranking.distance = distance_of_frontiers(perplexity, scores.values, latency);
  ranking.scores = std::move(scores.values);
  return ranking;
}

std::vector<size_t> models_by_percent(const std::vector<TableRow>& rows) {
  const Ranked ranked(rows);
  std::vector<size_t> models;
  for (const int64_t percent : kPercents)
    models.push_back(best_by_perplexity(ranked.perplexity, percent).size());
  return models;
}

std::vector<Coefficient> difference(const std::vector<TableRow>& rows, const Ranking& ranking,
                                    const Ranking& from) {
  const auto of = [&](const std::vector<double>& perplexity, std::span<const size_t> drawn, int64_t percent) {
    return spearman_of_best(perplexity, taken(ranking.scores, drawn), percent) -
           spearman_of_best(perplexity, taken(from.scores, drawn), percent);
  };
  return by_percent(Ranked(rows).perplexity, of);
}

Json to_json(const std::vector<TableRow>& rows, const std::vector<Ranking>& rankings) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  const auto list = [&](const std::vector<double>& values) {
    Json all = Json::array();
    for (const double value : values) all.push_back(number(value));
    return all;
  };
  const auto values = [&](const std::vector<Coefficient>& coefficients) {
    Json all = Json::array();
    for (const Coefficient& one : coefficients) all.push_back(number(one.value));
    return all;
  };
  const auto intervals = [&](const std::vector<Coefficient>& coefficients) {
    Json all = Json::array();
    for (const Coefficient& one : coefficients)
      all.push_back({number(one.interval.low), number(one.interval.high)});
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
                       {"spearman_top", values(r.spearman_top)},
                       {"spearman_intervals", intervals(r.spearman_top)},
                       {"common_ratio", values(r.common_ratio)},
                       {"common_ratio_intervals", intervals(r.common_ratio)},
                       {"distance", r.distance ? number(*r.distance) : Json()},
                       {"scores", list(r.scores)}});
  return {{"models", models},
          {"percents", kPercents},
          {"models_by_percent", models_by_percent(rows)},
          {"few_models", kFewModels},
          {"proxies", proxies}};
}

}  // namespace heed::search
