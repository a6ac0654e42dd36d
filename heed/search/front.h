// Frontiers: of score (higher is better), latency and memory (lower is better), what is worth keeping.
#pragma once

#include <span>
#include <vector>

#include "heed/search/cost.h"

namespace heed::search {

enum class FrontRule {
  kNonDominated,  // no other is at least as good in all three and better in one
  kStrict,        // no other is better in all three, as LiteTransformerSearch's code has it
  kHull,          // on the lower convex hull of latency or of memory over score, as its paper has it
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

// What a frontier is made of.
struct Point {
  double score, latency, memory;
};
Point point_of(const Evaluated& model);

// Places of those on the frontier, best score first. Of equal points all stay.
std::vector<size_t> front(std::span<const Point> points, FrontRule rule = FrontRule::kNonDominated);
std::vector<size_t> front(std::span<const Evaluated> models, FrontRule rule = FrontRule::kNonDominated);

// The volume between the frontier and a reference point, of latency and memory shares of the reference's and
// score: to compare searches. Score is measured from 0.
double hypervolume(std::span<const Evaluated> all, double latency, double memory);

}  // namespace heed::search
