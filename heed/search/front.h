// Pareto frontiers of score (higher is better), latency and memory (lower is better). Latency is that of a
// prompt or of a step, whichever is the objective.
#pragma once

#include <span>
#include <vector>

#include "heed/search/cost.h"

namespace heed::search {

enum class FrontRule {
  kNonDominated,  // no other is at least as good in all three and better in one
  kStrict,        // no other is better in all three, as in LiteTransformerSearch's code
  kHull,          // on the lower convex hull of latency or of memory over score, as in its paper
};

}  // namespace heed::search

namespace heed {
template <>
struct EnumNames<search::FrontRule> {
  static constexpr std::pair<search::FrontRule, const char*> names[] = {
      {search::FrontRule::kNonDominated, "non-dominated"},
      {search::FrontRule::kStrict, "strict"},
      {search::FrontRule::kHull, "hull"}};
};
}  // namespace heed

namespace heed::search {

// A point of a frontier.
struct Point {
  double score, latency, memory;
};
Point point_of(const Evaluated& model, Objective objective = Objective::kPrompt);

// Indices of the points on the frontier, best score first. All of several equal points are kept.
std::vector<size_t> front(std::span<const Point> points, FrontRule rule = FrontRule::kNonDominated);
std::vector<size_t> front(std::span<const Evaluated> models, FrontRule rule = FrontRule::kNonDominated,
                          Objective objective = Objective::kPrompt);

// The hypervolume between the frontier and a reference point, with latency and memory relative to the
// reference, to compare searches. Score is measured from 0.
double hypervolume(std::span<const Evaluated> all, double latency, double memory);

}  // namespace heed::search
