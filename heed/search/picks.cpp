#include "heed/search/picks.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace heed::search {
namespace {

// The best score at cost levels from the least to the most.
void add_levels(std::span<const Point> points, double Point::*cost, size_t levels, std::set<size_t>& chosen) {
  double least = INFINITY, most = 0;
  for (const Point& p : points) least = std::min(least, p.*cost), most = std::max(most, p.*cost);
  for (size_t level = 0; level < levels; ++level) {
    const double share = levels == 1 ? 1 : static_cast<double>(level) / static_cast<double>(levels - 1);
    // A little more than the level, so that rounding excludes neither end.
    const double limit = least * std::pow(most / least, share) * (1 + 1e-12);
    size_t best = points.size();
    for (size_t i = 0; i < points.size(); ++i) {
      if (points[i].*cost > limit) continue;
      if (best == points.size() || points[i].score > points[best].score ||
          (points[i].score == points[best].score && points[i].*cost < points[best].*cost))
        best = i;
    }
    if (best < points.size()) chosen.insert(best);
  }
}

}  // namespace

std::vector<size_t> spread(std::span<const Point> frontier, size_t count) {
  std::set<size_t> chosen;
  if (frontier.size() <= count) {
    for (size_t i = 0; i < frontier.size(); ++i) chosen.insert(i);
  } else {
    add_levels(frontier, &Point::latency, (2 * count + 2) / 3, chosen);
    add_levels(frontier, &Point::memory, count / 3, chosen);
  }
  std::vector<size_t> order(chosen.begin(), chosen.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return frontier[a].latency < frontier[b].latency; });
  return order;
}

Picks pick(std::span<const Point> models) {
  Picks picks;
  const auto faster = [&](size_t a, size_t b) { return models[a].latency < models[b].latency; };
  size_t fastest = 0;
  for (size_t i = 1; i < models.size(); ++i) {
    if (models[i].score > models[picks.best].score ||
        (models[i].score == models[picks.best].score && faster(i, picks.best)))
      picks.best = i;
    if (faster(i, fastest)) fastest = i;
  }
  picks.cheap = picks.knee = picks.best;
  // Scores may be anything, even negative; if they are sizes their logarithm is used.
  const bool sizes = std::all_of(models.begin(), models.end(), [](const Point& p) { return p.score > 0; });
  const auto level = [&](size_t i) { return sizes ? std::log(models[i].score) : models[i].score; };
  const double within = models[picks.best].score - 0.01 * std::abs(models[picks.best].score);
  const double score_range = level(picks.best) - level(fastest),
               latency_range = std::log(models[picks.best].latency / models[fastest].latency);
  double farthest = 0;
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i].score >= within && faster(i, picks.cheap)) picks.cheap = i;
    if (!(score_range > 0) || !(latency_range > 0)) continue;
    const double above = (level(i) - level(fastest)) / score_range -
                         std::log(models[i].latency / models[fastest].latency) / latency_range;
    if (above > farthest) farthest = above, picks.knee = i;
  }
  return picks;
}

}  // namespace heed::search
