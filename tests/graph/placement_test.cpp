#include "heed/graph/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heed/base/philox.h"

namespace heed::graph {
namespace {

// The same rule, with every block held against all that were placed before it.
int64_t place_plainly(std::vector<MemoryBlock>& blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<MemoryBlock> placed;
  int64_t peak = 0;
  for (size_t index : order) {
    MemoryBlock& block = blocks[index];
    block.offset = 0;
    if (block.outside || block.last < 0 || block.bytes == 0) continue;
    std::sort(placed.begin(), placed.end(),
              [](const MemoryBlock& a, const MemoryBlock& b) { return a.offset < b.offset; });
    int64_t best = -1, best_gap = std::numeric_limits<int64_t>::max(), free_from = 0;
    for (const MemoryBlock& other : placed) {
      if (other.first > block.last || other.last < block.first) continue;
      const int64_t gap = other.offset - free_from;
      if (gap >= block.bytes && gap < best_gap) best = free_from, best_gap = gap;
      free_from = std::max(free_from, other.offset + other.bytes);
    }
    block.offset = best >= 0 ? best : free_from;
    peak = std::max(peak, block.offset + block.bytes);
    placed.push_back(block);
  }
  return peak;
}

TEST(Placement, IsThatOfThePlainLoop) {
  Rng rng(7, 0);
  for (int round = 0; round < 200; ++round) {
    const int64_t times = 1 + rng.below(60), sizes = 1 + rng.below(40);
    std::vector<MemoryBlock> blocks(static_cast<size_t>(1 + rng.below(150)));
    for (MemoryBlock& block : blocks) {
      block.bytes = 64 * rng.below(sizes);  // some are empty, many are alike
      block.first = static_cast<int>(rng.below(times)) - 1;
      block.last = block.first + static_cast<int>(rng.below(rng.below(3) == 0 ? times : 4));
      if (rng.below(20) == 0) block.outside = ValueId{1};
    }
    std::vector<MemoryBlock> expected = blocks;
    ASSERT_EQ(place(blocks), place_plainly(expected)) << round;
    for (size_t i = 0; i < blocks.size(); ++i)
      ASSERT_EQ(blocks[i].offset, expected[i].offset) << round << ": block " << i;
  }
  std::vector<MemoryBlock> none;
  EXPECT_EQ(place(none), 0);
}

}  // namespace
}  // namespace heed::graph
