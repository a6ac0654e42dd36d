#include "heed/search/strategies/dominated.h"

#include <algorithm>
#include <numeric>

namespace heed::search {
namespace {

constexpr size_t kLeaf = 12;

bool reaches(const Coordinates& low, const Coordinates& high) {
  for (size_t i = 0; i < low.size(); ++i) {
    if (low[i] > high[i]) return false;
  }
  return true;
}

// A k-d tree of all points. A point that is dominated by a dominated one is dominated by what dominates that,
// so every point can be asked about alone.
class Tree {
 public:
  explicit Tree(std::span<const Coordinates> points) : points_(points), order_(points.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    nodes_.reserve(4 * (points.size() / kLeaf + 1));
    build(0, points.size());
    sorted_.reserve(points.size());
    for (const uint32_t place : order_) sorted_.push_back(points[place]);
  }

  bool dominates(uint32_t place) const { return dominates(0, points_[place], place); }

 private:
  // The points [begin, end) of order_; the left child follows its parent.
  struct Node {
    Coordinates low, high;
    uint32_t begin, end;
    uint32_t right = 0;  // 0 in a leaf
  };

  uint32_t build(size_t begin, size_t end) {
    Node node{points_[order_[begin]], points_[order_[begin]], static_cast<uint32_t>(begin),
              static_cast<uint32_t>(end)};
    for (size_t i = begin; i < end; ++i) {
      for (size_t k = 0; k < node.low.size(); ++k) {
        node.low[k] = std::min(node.low[k], points_[order_[i]][k]);
        node.high[k] = std::max(node.high[k], points_[order_[i]][k]);
      }
    }
    const auto index = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(node);
    if (end - begin <= kLeaf) return index;
    // The widest coordinate, by what it spans in all points.
    size_t widest = 0;
    double share = 0;
    for (size_t k = 0; k < node.low.size(); ++k) {
      const double whole = nodes_[0].high[k] - nodes_[0].low[k];
      if (whole > 0 && (node.high[k] - node.low[k]) / whole > share) {
        share = (node.high[k] - node.low[k]) / whole;
        widest = k;
      }
    }
    if (share == 0) return index;  // all are equal
    const size_t middle = begin + (end - begin) / 2;
    const auto at = [&](size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end),
                     [&](uint32_t a, uint32_t b) { return points_[a][widest] < points_[b][widest]; });
    build(begin, middle);
    const uint32_t right = build(middle, end);
    nodes_[index].right = right;
    return index;
  }

  bool dominates(uint32_t index, const Coordinates& point, uint32_t place) const {
    const Node& node = nodes_[index];
    if (!reaches(node.low, point)) return false;
    if (node.low != point && reaches(node.high, point)) return true;  // all of them do
    if (node.right != 0) return dominates(index + 1, point, place) || dominates(node.right, point, place);
    for (uint32_t i = node.begin; i < node.end; ++i) {
      if (reaches(sorted_[i], point) && (order_[i] < place || sorted_[i] != point)) return true;
    }
    return false;
  }

  std::span<const Coordinates> points_;
  std::vector<uint32_t> order_;
  std::vector<Coordinates> sorted_;  // the points in this order
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<uint8_t> dominated(std::span<const Coordinates> points) {
  std::vector<uint8_t> is_dominated(points.size());
  if (points.empty()) return is_dominated;
  const Tree tree(points);
  for (size_t i = 0; i < points.size(); ++i) is_dominated[i] = tree.dominates(static_cast<uint32_t>(i));
  return is_dominated;
}

}  // namespace heed::search
