#include "heed/search/front.h"

#include <map>
#include <numeric>
#include <set>

namespace heed::search {
namespace {

struct Placed : Point {
  size_t place;
};

// Best score first; among equals the faster, then the smaller, then the first.
std::vector<Placed> sorted_points(std::span<const Point> all) {
  std::vector<Placed> points;
  points.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) points.push_back({all[i], i});
  std::sort(points.begin(), points.end(), [](const Placed& a, const Placed& b) {
    if (a.score != b.score) return a.score > b.score;
    if (a.latency != b.latency) return a.latency < b.latency;
    if (a.memory != b.memory) return a.memory < b.memory;
    return a.place < b.place;
  });
  return points;
}

std::vector<Point> points_of(std::span<const Evaluated> models, Objective objective = Objective::kPrompt) {
  std::vector<Point> points;
  for (const Evaluated& model : models) points.push_back(point_of(model, objective));
  return points;
}

// The least memory that any point so far has within a latency: a staircase that falls with latency.
class Staircase {
 public:
  // The least memory at a latency of at most (or below, if strict) this.
  double least(double latency, bool strict) const {
    auto step = strict ? steps_.lower_bound(latency) : steps_.upper_bound(latency);
    return step == steps_.begin() ? INFINITY : std::prev(step)->second;
  }
  void add(double latency, double memory) {
    if (least(latency, false) <= memory) return;
    auto step = steps_.insert_or_assign(latency, memory).first;
    for (++step; step != steps_.end() && step->second >= memory;) step = steps_.erase(step);
  }

 private:
  std::map<double, double> steps_;
};

std::vector<size_t> non_dominated(const std::vector<Placed>& points) {
  std::vector<size_t> kept;
  Staircase before;  // of points with a score that is as good or better
  for (size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    // Points that agree in all three are adjacent.
    const Placed& p = points[begin];
    while (end < points.size() && points[end].score == p.score && points[end].latency == p.latency &&
           points[end].memory == p.memory)
      ++end;
    if (before.least(p.latency, false) <= p.memory) continue;
    before.add(p.latency, p.memory);
    for (size_t i = begin; i < end; ++i) kept.push_back(points[i].place);
  }
  return kept;
}

std::vector<size_t> strict(const std::vector<Placed>& points) {
  std::vector<size_t> kept;
  Staircase before;  // of points with a better score
  for (size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && points[end].score == points[begin].score) ++end;
    for (size_t i = begin; i < end; ++i) {
      if (!(before.least(points[i].latency, true) < points[i].memory)) kept.push_back(points[i].place);
    }
    for (size_t i = begin; i < end; ++i) before.add(points[i].latency, points[i].memory);
  }
  return kept;
}

// Corners of the lower convex hull of cost over score, from the cheapest point to the best.
void add_hull(const std::vector<Placed>& points, double Point::*cost, std::set<size_t>& corners) {
  std::vector<Placed> hull;
  // From the best score down; at a corner the line turns left.
  for (const Placed& p : points) {
    while (hull.size() >= 2) {
      const Placed &a = hull[hull.size() - 2], &b = hull.back();
      const double turn =
          (b.score - a.score) * (p.*cost - a.*cost) - (b.*cost - a.*cost) * (p.score - a.score);
      if (turn < 0) break;
      hull.pop_back();
    }
    if (hull.empty() || p.*cost < hull.back().*cost) hull.push_back(p);
  }
  for (const Placed& p : hull) corners.insert(p.place);
}

}  // namespace

Point point_of(const Evaluated& model, Objective objective) {
  return {model.score, time_of(model.cost, objective), static_cast<double>(model.cost.memory())};
}

std::vector<size_t> front(std::span<const Evaluated> models, FrontRule rule, Objective objective) {
  return front(points_of(models, objective), rule);
}

std::vector<size_t> front(std::span<const Point> all, FrontRule rule) {
  const std::vector<Placed> points = sorted_points(all);
  if (rule == FrontRule::kNonDominated) return non_dominated(points);
  if (rule == FrontRule::kStrict) return strict(points);
  std::set<size_t> corners;
  add_hull(points, &Point::latency, corners);
  add_hull(points, &Point::memory, corners);
  std::vector<size_t> kept;
  for (const Placed& p : points) {
    if (corners.contains(p.place)) kept.push_back(p.place);
  }
  return kept;
}

double hypervolume(std::span<const Evaluated> all, double latency, double memory) {
  // Slices of equal score from the best down; each adds the area its points and better ones cover.
  std::vector<Placed> points;
  for (const Placed& p : sorted_points(points_of(all))) {
    if (p.latency < latency && p.memory < memory && p.score > 0) points.push_back(p);
  }
  double volume = 0;
  std::map<double, double> steps;  // memory by latency, falling
  for (size_t i = 0; i < points.size(); ++i) {
    auto step = steps.upper_bound(points[i].latency);
    if (step == steps.begin() || std::prev(step)->second > points[i].memory) {
      step = std::next(steps.insert_or_assign(points[i].latency, points[i].memory).first);
      while (step != steps.end() && step->second >= points[i].memory) step = steps.erase(step);
    }
    const double below = i + 1 < points.size() ? points[i + 1].score : 0;
    if (below == points[i].score) continue;
    double area = 0;
    for (auto at = steps.begin(); at != steps.end(); ++at) {
      const double next = std::next(at) == steps.end() ? latency : std::next(at)->first;
      area += (next - at->first) / latency * (memory - at->second) / memory;
    }
    volume += area * (points[i].score - below);
  }
  return volume;
}

}  // namespace heed::search
