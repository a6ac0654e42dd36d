#include "heed/data/bpe_training.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/data/byte_level.h"
#include "heed/data/pair_merger.h"
#include "heed/data/pretokenize.h"
#include "heed/data/string_table.h"

namespace heed::data {
namespace {

constexpr int64_t kSmallest = 257;
// Longer pieces (a text without spaces) are split: each merge walks whole pieces.
constexpr size_t kLongestPiece = 256;

// Distinct pieces with their counts.
PairMerger count_pieces(const TextSource& text, const std::array<int32_t, 256>& byte_ids) {
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
  PairMerger merger;
  merger.reserve(pieces.bytes());
  std::vector<int32_t> ids;
  for (size_t number = 0; number < pieces.size(); ++number) {
    ids.clear();
    for (char byte : pieces[number]) ids.push_back(byte_ids[static_cast<uint8_t>(byte)]);
    merger.add_piece(ids, counts[number]);
  }
  return merger;
}

}  // namespace

BpeVocabulary learn_bpe(int64_t vocabulary, const TextSource& text) {
  const bool usual = vocabulary == 0;
  if (usual) vocabulary = kUsualVocabulary;
  if (vocabulary < kSmallest)
    throw usage_error("bpe: a vocabulary of ", vocabulary, " was asked for; it needs at least ", kSmallest,
                      " (256 bytes and ", BpeVocabulary::kEndOfText, ")");
  BpeVocabulary made;
  std::array<int32_t, 256> byte_ids;
  for (uint8_t byte : byte_level_order()) {
    byte_ids[byte] = static_cast<int32_t>(made.tokens.size());
    made.tokens.emplace_back(1, static_cast<char>(byte));
  }
  PairMerger merger = count_pieces(text, byte_ids);
  merger.count_pairs();
  while (static_cast<int64_t>(made.tokens.size()) < vocabulary - 1) {
    const PairMerger::Best best = merger.take_best();
    if (best.count < kLeastPairCount && usual) break;
    if (best.count < kLeastPairCount)
      throw usage_error("bpe: a vocabulary of ", vocabulary,
                        " was asked for, but in this text nothing occurs twice beyond ",
                        made.tokens.size() + 1, " tokens; ask for that many, or learn from more text");
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
