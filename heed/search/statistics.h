// How well a score ranks models, as LiteTransformerSearch measures it (Javaheripi and others 2022).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heed::search {

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);
// Spearman's coefficient: Pearson's of the ranks. NaN for fewer than two values, or equal ones.
double spearman(std::span<const double> a, std::span<const double> b);

// The floor(percent N / 100) models with the lowest perplexity, best first, equal ones in their original
// order.
std::vector<size_t> best_by_perplexity(std::span<const double> perplexity, int64_t percent);
// Spearman's coefficient of score and negative perplexity among those.
double spearman_of_best(std::span<const double> perplexity, std::span<const double> score, int64_t percent);
// Of the best `percent` by perplexity, the share that is also among as many of the highest scores.
double common_ratio(std::span<const double> perplexity, std::span<const double> score, int64_t percent);

// With fewer models a coefficient is mostly chance: the interval around 0.6 of 30 models is 0.3 to 0.8.
inline constexpr size_t kFewModels = 30;

// The middle 95% of a statistic over samples of `count` things, drawn with replacement: the bootstrap
// interval. NaN where every sample's value is.
struct Interval {
  double low = 0, high = 0;
};
Interval bootstrap(size_t count, const std::function<double(std::span<const size_t> drawn)>& statistic);

// The non-dominated points; lower is better in both coordinates. Sorted by the first.
std::vector<size_t> frontier(std::span<const double> first, std::span<const double> second);
// The mean relative distance of perplexities on the frontier by score from those on the true frontier at the
// nearest latency.
double distance_of_frontiers(std::span<const double> perplexity, std::span<const double> score,
                             std::span<const double> latency);

}  // namespace heed::search
