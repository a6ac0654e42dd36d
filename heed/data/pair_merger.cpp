#include "heed/data/pair_merger.h"

#include <algorithm>

namespace heed::data {

void PairMerger::add_piece(std::span<const int32_t> ids, int64_t count) {
  pieces_.push_back({ids_.size(), static_cast<uint32_t>(ids.size()), count});
  ids_.insert(ids_.end(), ids.begin(), ids.end());
}

// Counts first, so that each list allocates exactly what it needs.
void PairMerger::count_pairs() {
  const auto each = [&](auto&& visit) {
    for (uint32_t p = 0; p < pieces_.size(); ++p) {
      for (uint32_t i = 0; i + 1 < pieces_[p].length; ++i) {
        const size_t at = pieces_[p].begin + i;
        visit(pairs_[{ids_[at], ids_[at + 1]}], p);
      }
    }
  };
  each([&](Pair& pair, uint32_t p) { pair.count += pieces_[p].count, ++pair.places; });
  for (auto& [ids, pair] : pairs_) pair.pieces.reserve(pair.places);
  each([](Pair& pair, uint32_t p) { pair.add_place(p); });
  for (const auto& [ids, pair] : pairs_) candidates_.push({ids, pair.count});
}

// Counts in the heap may be outdated and too high, never too low: the first one popped that is current is the
// best.
PairMerger::Best PairMerger::take_best() {
  while (!candidates_.empty()) {
    const Best top = candidates_.top();
    candidates_.pop();
    const auto found = pairs_.find(top.pair);
    if (found == pairs_.end()) continue;
    if (found->second.count == top.count) return top;
    if (found->second.count > 0) candidates_.push({top.pair, found->second.count});
  }
  return {};
}

void PairMerger::merge(PairIds pair, int32_t merged) {
  const auto found = pairs_.find(pair);
  const std::vector<uint32_t> where = std::move(found->second.pieces);
  pairs_.erase(found);
  changed_.clear();
  for (uint32_t p : where) merge_in(p, pair, merged);
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const PairIds& ids : changed_) {
    const auto grown = pairs_.find(ids);
    if (grown != pairs_.end() && grown->second.count > 0) candidates_.push({ids, grown->second.count});
  }
}

void PairMerger::merge_in(uint32_t p, PairIds pair, int32_t merged) {
  Piece& piece = pieces_[p];
  int32_t* const ids = ids_.data() + piece.begin;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < piece.length; ++i) {
    if (i + 1 == piece.length || ids[i] != pair.first || ids[i + 1] != pair.second) {
      ids[kept++] = ids[i];
      continue;
    }
    if (kept > 0) {
      less({ids[kept - 1], pair.first}, pair, piece.count);
      more({ids[kept - 1], merged}, p);
    }
    if (i + 2 < piece.length) {
      less({pair.second, ids[i + 2]}, pair, piece.count);
      more({merged, ids[i + 2]}, p);
    }
    ids[kept++] = merged;
    ++i;
  }
  piece.length = kept;
}

void PairMerger::less(PairIds ids, PairIds being_merged, int64_t count) {
  if (ids == being_merged) return;
  const auto found = pairs_.find(ids);
  found->second.count -= count;
  if (found->second.count == 0) pairs_.erase(found);
}

void PairMerger::more(PairIds ids, uint32_t p) {
  Pair& pair = pairs_[ids];
  pair.count += pieces_[p].count;
  pair.add_place(p);
  changed_.push_back(ids);
}

}  // namespace heed::data
