#include "heed/data/bpe_merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>

namespace heed::data {
namespace {

constexpr uint64_t kFree = ~uint64_t{0};
// Up to this many ids, looking at all of them for each merge is faster than a heap.
constexpr size_t kFewIds = 64;

uint64_t pair_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

BpeMerges::BpeMerges(size_t expected)
    : slots_(std::bit_ceil(std::max<size_t>(64, 2 * expected)), Slot{kFree, {kNone, 0}}) {}

size_t BpeMerges::slot_of(uint64_t pair) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t mixed = pair * 0x9E3779B97F4A7C15u;
  size_t at = (mixed ^ mixed >> 32) & mask;
  while (slots_[at].pair != pair && slots_[at].pair != kFree) at = (at + 1) & mask;
  return at;
}

BpeMerges::Merge BpeMerges::find(int32_t left, int32_t right) const {
  return slots_[slot_of(pair_of(left, right))].merge;
}

bool BpeMerges::add(int32_t left, int32_t right, int32_t id) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  const uint64_t pair = pair_of(left, right);
  Slot& slot = slots_[slot_of(pair)];
  if (slot.pair == pair) return false;
  slot = {pair, {static_cast<int32_t>(entries_.size()), id}};
  entries_.push_back({left, right, id});
  return true;
}

void BpeMerges::grow() {
  std::vector<Slot> before(2 * slots_.size(), Slot{kFree, {kNone, 0}});
  std::swap(before, slots_);
  for (const Slot& slot : before) {
    if (slot.pair != kFree) slots_[slot_of(slot.pair)] = slot;
  }
}

void BpeMerges::apply(std::vector<int32_t>& ids) const {
  if (ids.size() <= kFewIds) {
    apply_by_scanning(ids);
  } else {
    apply_by_heap(ids);
  }
}

void BpeMerges::apply_by_scanning(std::vector<int32_t>& ids) const {
  std::array<Merge, kFewIds> merges;  // of each id with the next
  size_t pairs = ids.empty() ? 0 : ids.size() - 1;
  for (size_t i = 0; i < pairs; ++i) merges[i] = find(ids[i], ids[i + 1]);
  while (pairs > 0) {
    size_t best = 0;
    for (size_t i = 1; i < pairs; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == kNone) break;
    ids[best] = merges[best].id;
    std::copy(ids.begin() + static_cast<std::ptrdiff_t>(best + 2),
              ids.begin() + static_cast<std::ptrdiff_t>(pairs + 1),
              ids.begin() + static_cast<std::ptrdiff_t>(best + 1));
    std::copy(merges.begin() + best + 1, merges.begin() + pairs, merges.begin() + best);
    --pairs;
    if (best < pairs) merges[best] = find(ids[best], ids[best + 1]);
    if (best > 0) merges[best - 1] = find(ids[best - 1], ids[best]);
  }
  if (!ids.empty()) ids.resize(pairs + 1);
}

// The ids form a list; the heap has the pairs that may merge. A pair whose neighbour changed stays in the
// heap with its old rank and is skipped when it is popped.
void BpeMerges::apply_by_heap(std::vector<int32_t>& ids) const {
  struct Node {
    size_t before, after;
    Merge merge;  // with the next one; kNone for removed nodes
  };
  struct Candidate {
    int32_t rank;
    size_t at;
    bool operator<(const Candidate& other) const {  // the largest is popped first
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  const size_t count = ids.size();
  std::vector<Node> nodes(count);
  std::vector<Candidate> first;
  for (size_t i = 0; i < count; ++i) {
    nodes[i] = {i - 1, i + 1, i + 1 < count ? find(ids[i], ids[i + 1]) : Merge{kNone, 0}};
    if (nodes[i].merge.rank != kNone) first.push_back({nodes[i].merge.rank, i});
  }
  std::priority_queue<Candidate> candidates(std::less<Candidate>(), std::move(first));
  const auto look = [&](size_t at) {
    const size_t after = nodes[at].after;
    nodes[at].merge = after < count ? find(ids[at], ids[after]) : Merge{kNone, 0};
    if (nodes[at].merge.rank != kNone) candidates.push({nodes[at].merge.rank, at});
  };
  while (!candidates.empty()) {
    const auto [rank, at] = candidates.top();
    candidates.pop();
    if (nodes[at].merge.rank != rank) continue;
    const size_t gone = nodes[at].after;
    ids[at] = nodes[at].merge.id;
    nodes[gone].merge.rank = kNone;
    nodes[at].after = nodes[gone].after;
    if (nodes[at].after < count) nodes[nodes[at].after].before = at;
    look(at);
    if (at > 0) look(nodes[at].before);
  }
  size_t kept = 0;
  for (size_t at = 0; at < count; at = nodes[at].after) ids[kept++] = ids[at];
  ids.resize(kept);
}

}  // namespace heed::data
