// Merges the most frequent pair of neighbours, again and again, in the distinct pieces of a text: how
// byte-pair encodings and WordPieces are learned (Sennrich et al., 2016).
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heed::data {

// A pair that occurs once says nothing about other text.
inline constexpr int64_t kLeastPairCount = 2;

// Counts and positions of pairs are updated as neighbours change, so that the cost of a merge is what it
// changes, not a pass over the text. The same pieces in the same order give the same merges.
class PairMerger {
 public:
  using PairIds = std::pair<int32_t, int32_t>;
  struct Best {
    PairIds pair;
    int64_t count = 0;
  };

  void reserve(size_t ids) { ids_.reserve(ids); }  // of all pieces together
  void add_piece(std::span<const int32_t> ids, int64_t count);
  void count_pairs();  // after the last piece
  // The most frequent pair, ties by the smaller left id, then the smaller right id; count 0 if there is none.
  Best take_best();
  // Only of the pair that was taken: `merged` is its id from now on.
  void merge(PairIds pair, int32_t merged);

 private:
  struct Piece {
    size_t begin;
    uint32_t length;
    int64_t count;
  };
  struct Pair {
    int64_t count = 0;
    size_t places = 0;             // at the start
    std::vector<uint32_t> pieces;  // that contain it, and perhaps some that used to
    void add_place(uint32_t piece) {
      if (pieces.empty() || pieces.back() != piece) pieces.push_back(piece);
    }
  };
  struct HashPair {
    size_t operator()(const PairIds& ids) const {
      const uint64_t both = static_cast<uint64_t>(ids.first) << 32 | static_cast<uint32_t>(ids.second);
      return both * 0x9E3779B97F4A7C15u >> 16;
    }
  };
  struct Lower {
    bool operator()(const Best& a, const Best& b) const {
      return a.count != b.count ? a.count < b.count : a.pair > b.pair;
    }
  };

  void merge_in(uint32_t p, PairIds pair, int32_t merged);
  void less(PairIds ids, PairIds being_merged, int64_t count);
  void more(PairIds ids, uint32_t p);

  std::vector<int32_t> ids_;  // of all pieces, one after another
  std::vector<Piece> pieces_;
  std::unordered_map<PairIds, Pair, HashPair> pairs_;
  std::priority_queue<Best, std::vector<Best>, Lower> candidates_;
  std::vector<PairIds> changed_;
};

}  // namespace heed::data
