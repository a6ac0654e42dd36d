#include "heed/data/bpe_training.h"

#include <algorithm>
#include <array>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/byte_level.h"
#include "heed/data/pretokenize.h"
#include "heed/data/string_table.h"

namespace heed::data {
namespace {

constexpr int64_t kSmallest = 257;
constexpr int64_t kLeastCount = 2;  // a pair that occurs once says nothing about other text
// Longer pieces (a text without spaces) are split: each merge walks whole pieces.
constexpr size_t kLongestPiece = 256;

// Merges pairs in the distinct pieces of a text. Counts and positions of pairs are updated as neighbours
// change, so that the cost of a merge is what it changes, not a pass over the text.
class Merger {
 public:
  using PairIds = std::pair<int32_t, int32_t>;
  struct Best {
    PairIds pair;
    int64_t count = 0;
  };

  explicit Merger(size_t bytes) { ids_.reserve(bytes); }  // of all pieces together

  void add_piece(std::string_view bytes, int64_t count, const std::array<int32_t, 256>& byte_ids) {
    for (char byte : bytes) ids_.push_back(byte_ids[static_cast<uint8_t>(byte)]);
    pieces_.push_back({ids_.size() - bytes.size(), static_cast<uint32_t>(bytes.size()), count});
  }

  // After the last piece. Counts first, so that each list allocates exactly what it needs.
  void count_pairs() {
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

  // The most frequent pair; count 0 if there is none. Counts in the heap may be outdated and too high, never
  // too low: the first one popped that is current is the best.
  Best take_best() {
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

  void merge(PairIds pair, int32_t merged) {
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

  void merge_in(uint32_t p, PairIds pair, int32_t merged) {
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

  void less(PairIds ids, PairIds being_merged, int64_t count) {
    if (ids == being_merged) return;
    const auto found = pairs_.find(ids);
    found->second.count -= count;
    if (found->second.count == 0) pairs_.erase(found);
  }

  void more(PairIds ids, uint32_t p) {
    Pair& pair = pairs_[ids];
    pair.count += pieces_[p].count;
    pair.add_place(p);
    changed_.push_back(ids);
  }

  std::vector<int32_t> ids_;  // of all pieces, one after another
  std::vector<Piece> pieces_;
  std::unordered_map<PairIds, Pair, HashPair> pairs_;
  std::priority_queue<Best, std::vector<Best>, Lower> candidates_;
  std::vector<PairIds> changed_;
};

// Distinct pieces with their counts, as the start of merging.
Merger count_pieces(const TextSource& text, const std::array<int32_t, 256>& byte_ids) {
  StringTable pieces;
  std::vector<int64_t> counts;
  text([&](std::string_view part) {
    for (size_t begin = 0, end; begin < part.size(); begin = end) {
      end = std::min(pretoken_end(part, begin), begin + kLongestPiece);
      const size_t number = pieces.add(part.substr(begin, end - begin));
      if (number == counts.size()) counts.push_back(0);
      ++counts[number];
    }
  });
  Merger merger(pieces.bytes());
  for (size_t number = 0; number < pieces.size(); ++number)
    merger.add_piece(pieces[number], counts[number], byte_ids);
  return merger;
}

}  // namespace

BpeVocabulary learn_bpe(int64_t vocabulary, const TextSource& text) {
  if (vocabulary == 0) vocabulary = kUsualVocabulary;
  if (vocabulary < kSmallest)
    throw usage_error("bpe: a vocabulary of ", vocabulary, " was asked for; it needs at least ", kSmallest,
                      " (256 bytes and ", BpeVocabulary::kEndOfText, ")");
  BpeVocabulary made;
  std::array<int32_t, 256> byte_ids;
  for (uint8_t byte : byte_level_order()) {
    byte_ids[byte] = static_cast<int32_t>(made.tokens.size());
    made.tokens.emplace_back(1, static_cast<char>(byte));
  }
  Merger merger = count_pieces(text, byte_ids);
  merger.count_pairs();
  while (static_cast<int64_t>(made.tokens.size()) < vocabulary - 1) {
    const Merger::Best best = merger.take_best();
    if (best.count < kLeastCount) break;  // the text has no more; who needs more looks at the size
    const auto [left, right] = best.pair;
    // Always a new token: the same string is merged the same way wherever it occurs, so only one pair
    // makes it.
    const auto id = static_cast<int32_t>(made.tokens.size());
    made.tokens.push_back(made.tokens[static_cast<size_t>(left)] + made.tokens[static_cast<size_t>(right)]);
    const bool is_new = made.merges.add(left, right, id);
    HEED_ASSERT(is_new);
    merger.merge(best.pair, id);
  }
  made.added.push_back({static_cast<int32_t>(made.tokens.size()), BpeVocabulary::kEndOfText, true});
  made.tokens.push_back(BpeVocabulary::kEndOfText);
  return made;
}

}  // namespace heed::data
