#include "heed/graph/placement.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace heed::graph {
namespace {

struct Range {
  int64_t begin, end;
};

// Disjoint ranges in order; those that touch are one.
class RangeSet {
 public:
  void add(Range range) {
    const auto from = std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                                       [](const Range& known, int64_t begin) { return known.end < begin; });
    auto to = from;
    for (; to != ranges_.end() && to->begin <= range.end; ++to)
      range = {std::min(range.begin, to->begin), std::max(range.end, to->end)};
    if (from == to) {
      ranges_.insert(from, range);
    } else {
      *from = range;
      ranges_.erase(from + 1, to);
    }
  }
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

// Which bytes of the arena are in use when. A segment tree over time: each of its nodes stands for a stretch
// of time, and every stretch is O(log time) of them.
class Occupancy {
 public:
  explicit Occupancy(size_t times)
      : leaves_(std::bit_ceil(times)), throughout_(2 * leaves_), sometimes_(2 * leaves_) {}

  void add(size_t first, size_t last, Range range) {
    walk(
        first, last,
        [&](size_t node) {
          throughout_[node].add(range);
          sometimes_[node].add(range);
        },
        [&](size_t node) { sometimes_[node].add(range); });
  }

  // What is in use at any of these times, sorted by where it begins; ranges may overlap.
  void find(size_t first, size_t last, std::vector<Range>& into) const {
    into.clear();
    const auto take = [&](const RangeSet& set) {
      into.insert(into.end(), set.ranges().begin(), set.ranges().end());
    };
    walk(
        first, last, [&](size_t node) { take(sometimes_[node]); },
        [&](size_t node) { take(throughout_[node]); });
    std::sort(into.begin(), into.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }

 private:
  // The fewest nodes that make up [first, last], and all nodes that contain one of its ends.
  template <class Whole, class Above>
  void walk(size_t first, size_t last, const Whole& whole, const Above& above) const {
    first += leaves_, last += leaves_;
    for (size_t begin = first, end = last + 1; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) whole(begin++);
      if (end % 2 == 1) whole(--end);
    }
    for (; first > 0; first /= 2, last /= 2) {
      above(first);
      if (last != first) above(last);
    }
  }

  size_t leaves_;
  std::vector<RangeSet> throughout_;  // in use at all times of the node, and not of the node above it
  std::vector<RangeSet> sometimes_;   // in use at some time of the node
};

}  // namespace

// Largest first, each in the tightest gap between blocks in use at the same time, or on top of them. Within a
// few percent of the lower bound for training graphs, and simple.
int64_t place(std::vector<MemoryBlock>& blocks) {
  std::vector<size_t> order;
  int end = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].offset = 0;
    if (blocks[i].outside || blocks[i].last < 0 || blocks[i].bytes == 0) continue;
    order.push_back(i);
    end = std::max(end, blocks[i].last);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  Occupancy occupancy(static_cast<size_t>(end) + 2);  // from -1 on
  std::vector<Range> used;
  int64_t peak = 0;
  for (size_t index : order) {
    MemoryBlock& block = blocks[index];
    const auto first = static_cast<size_t>(block.first + 1), last = static_cast<size_t>(block.last + 1);
    occupancy.find(first, last, used);
    int64_t best = -1, best_gap = std::numeric_limits<int64_t>::max(), free_from = 0;
    for (const Range& range : used) {
      const int64_t gap = range.begin - free_from;
      if (gap >= block.bytes && gap < best_gap) {
        best = free_from;
        best_gap = gap;
      }
      free_from = std::max(free_from, range.end);
    }
    block.offset = best >= 0 ? best : free_from;
    peak = std::max(peak, block.offset + block.bytes);
    occupancy.add(first, last, {block.offset, block.offset + block.bytes});
  }
  return peak;
}

}  // namespace heed::graph
