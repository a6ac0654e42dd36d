// The merges of a byte-pair encoding (Sennrich et al., 2016), applied to one piece of text.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::data {

class BpeMerges {
 public:
  struct Merge {
    int32_t rank;  // kNone if the pair does not merge
    int32_t id;    // what the pair becomes
  };
  static constexpr int32_t kNone = INT32_MAX;

  explicit BpeMerges(size_t expected = 0);
  // Ranks count up from 0. Returns false and does nothing if the pair already has a merge.
  bool add(int32_t left, int32_t right, int32_t id);
  Merge find(int32_t left, int32_t right) const;
  // Pairs and what they become, by rank.
  struct Entry {
    int32_t left, right, id;
  };
  std::span<const Entry> entries() const { return entries_; }

  // Merges in place, lowest rank first and leftmost among equals, until no pair merges; shortens `ids`. O(n
  // log n) for n ids.
  void apply(std::vector<int32_t>& ids) const;

 private:
  struct Slot {
    uint64_t pair;
    Merge merge;
  };
  size_t slot_of(uint64_t pair) const;
  void grow();
  void apply_by_scanning(std::vector<int32_t>& ids) const;
  void apply_by_heap(std::vector<int32_t>& ids) const;

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two of them, at most half in use
};

}  // namespace heed::data
