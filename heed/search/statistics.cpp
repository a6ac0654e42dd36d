#include "heed/search/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/base/philox.h"
#include "heed/search/front.h"

namespace heed::search {
namespace {

// Indices sorted by `before`, stable.
template <class Before>
std::vector<size_t> sorted(size_t count, const Before& before) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

size_t share_of(size_t count, int64_t percent) { return count * static_cast<size_t>(percent) / 100; }

}  // namespace

std::vector<double> ranks(std::span<const double> values) {
  const std::vector<size_t> order =
      sorted(values.size(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = 0.5 * static_cast<double>(begin + end + 1);
  }
  return ranks;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(x.size() + 1);
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<size_t> best_by_perplexity(std::span<const double> perplexity, int64_t percent) {
  std::vector<size_t> best =
      sorted(perplexity.size(), [&](size_t a, size_t b) { return perplexity[a] < perplexity[b]; });
  best.resize(share_of(perplexity.size(), percent));
  return best;
}

double spearman_of_best(std::span<const double> perplexity, std::span<const double> score, int64_t percent) {
  std::vector<double> quality, scores;
  for (const size_t i : best_by_perplexity(perplexity, percent)) {
    quality.push_back(-perplexity[i]);
    scores.push_back(score[i]);
  }
  return spearman(quality, scores);
}

double common_ratio(std::span<const double> perplexity, std::span<const double> score, int64_t percent) {
  std::vector<size_t> best = best_by_perplexity(perplexity, percent),
                      highest = sorted(score.size(), [&](size_t a, size_t b) { return score[a] > score[b]; });
  if (best.empty()) return std::numeric_limits<double>::quiet_NaN();
  highest.resize(best.size());
  std::sort(best.begin(), best.end());
  std::sort(highest.begin(), highest.end());
  std::vector<size_t> both;
  std::set_intersection(best.begin(), best.end(), highest.begin(), highest.end(), std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(best.size());
}

Interval bootstrap(size_t count, const std::function<double(std::span<const size_t>)>& statistic) {
  constexpr int kSamples = 2000;
  Rng rng(1);
  std::vector<double> values;
  std::vector<size_t> drawn(count);
  for (int sample = 0; sample < kSamples; ++sample) {
    for (size_t& index : drawn) index = static_cast<size_t>(rng.below(static_cast<int64_t>(count)));
    const double value = statistic(drawn);
    if (!std::isnan(value)) values.push_back(value);
  }
  if (values.empty())
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {at(0.025), at(0.975)};
}

std::vector<size_t> frontier(std::span<const double> first, std::span<const double> second) {
  std::vector<Point> points;
  for (size_t i = 0; i < first.size(); ++i) points.push_back({-second[i], first[i], 0});
  std::vector<size_t> kept = front(points);
  std::sort(kept.begin(), kept.end());  // so that equal ones keep their original order
  std::stable_sort(kept.begin(), kept.end(), [&](size_t a, size_t b) { return first[a] < first[b]; });
  return kept;
}

double distance_of_frontiers(std::span<const double> perplexity, std::span<const double> score,
                             std::span<const double> latency) {
  std::vector<double> negative(score.begin(), score.end());
  for (double& value : negative) value = -value;
  const std::vector<size_t> truth = frontier(latency, perplexity), found = frontier(latency, negative);
  double sum = 0;
  for (const size_t i : found) {
    const size_t nearest = *std::min_element(truth.begin(), truth.end(), [&](size_t a, size_t b) {
      return std::abs(latency[a] - latency[i]) < std::abs(latency[b] - latency[i]);
    });
    sum += std::abs(perplexity[i] - perplexity[nearest]) / perplexity[nearest];
  }
  return sum / static_cast<double>(found.size());
}

}  // namespace heed::search
