#include "heed/data/wordpiece_training.h"

#include <algorithm>
#include <map>
#include <span>

#include "heed/data/added_tokens.h"
#include "heed/data/pair_merger.h"
#include "heed/data/string_table.h"
#include "heed/data/utf8.h"

namespace heed::data {
namespace {

constexpr int64_t kSmallest = std::ssize(WordPieceVocabulary::kSpecial) + 1;
constexpr int64_t kRare = 10'000;  // one of so many characters may be left out

struct Words {
  StringTable distinct;
  std::vector<int64_t> counts;
};

Words count_words(const WordPieceVocabulary& made, const TextSource& text) {
  Words words;
  BertNormalizer normalizer(made.words);
  const AddedTokenFinder special(made.added);
  std::string utf8;
  const auto count = [&](std::span<const WordCharacter> word) {
    if (std::ssize(word) > made.longest_word) return;
    utf8.clear();
    for (const WordCharacter& character : word) append_utf8(character.code_point, utf8);
    const size_t number = words.distinct.add(utf8);
    if (number == words.counts.size()) words.counts.push_back(0);
    ++words.counts[number];
  };
  text([&](std::string_view part) {
    const auto stretch = [&](size_t from, size_t to) {
      each_chunk(part.substr(from, to - from), [&](size_t begin, size_t end, bool) {
        each_word(normalizer.normalize(part.substr(from + begin, end - begin)), count);
      });
    };
    special.split(part, stretch, [](size_t, size_t, int32_t) {});
  });
  if (words.distinct.size() == 0) throw usage_error("wordpiece: the text to learn from has no words");
  return words;
}

struct Character {
  int32_t code_point = 0;
  int64_t count = 0;
  bool joins = false;               // is part of a longer word somewhere, unlike punctuation
  int32_t first = -1, inside = -1;  // ids of its pieces, at the start of a word and inside
};
using Characters = std::map<int32_t, Character>;

template <class Visit>
void each_character(std::string_view word, Visit&& visit) {
  for (size_t at = 0; at < word.size();) {
    const auto [code_point, length] = utf8_at(word, at);
    visit(code_point, at);
    at += length;
  }
}

// Those that become pieces, at most `most` of them.
Characters choose_characters(const Words& words, int64_t most) {
  Characters all;
  int64_t total = 0;
  for (size_t number = 0; number < words.distinct.size(); ++number) {
    const std::string_view word = words.distinct[number];
    const size_t first = utf8_at(word, 0).length;
    each_character(word, [&](int32_t code_point, size_t) {
      Character& character = all[code_point];
      character.code_point = code_point;
      character.count += words.counts[number];
      character.joins |= word.size() > first;
      total += words.counts[number];
    });
  }
  std::vector<Character> frequent;
  for (const auto& [code_point, character] : all) frequent.push_back(character);
  std::stable_sort(frequent.begin(), frequent.end(),
                   [](const Character& a, const Character& b) { return a.count > b.count; });
  int64_t rare = 0;
  while (!frequent.empty() && (rare + frequent.back().count) * kRare <= total) {
    rare += frequent.back().count;
    frequent.pop_back();
  }
  Characters chosen;
  for (const Character& character : frequent) {
    most -= character.joins ? 2 : 1;
    if (most < 0) break;
    chosen.emplace(character.code_point, character);
  }
  return chosen;
}

void add_characters(Characters& characters, WordPieceVocabulary& made) {
  const auto add = [&](const char* prefix, int32_t code_point) {
    append_utf8(code_point, made.tokens.emplace_back(prefix));
    return static_cast<int32_t>(made.tokens.size()) - 1;
  };
  for (auto& [code_point, character] : characters) character.first = add("", code_point);
  for (auto& [code_point, character] : characters) {
    if (character.joins) character.inside = add(WordPieceVocabulary::kPrefix, code_point);
  }
}

PairMerger start_of(const Words& words, const Characters& characters) {
  PairMerger merger;
  merger.reserve(words.distinct.bytes());
  std::vector<int32_t> ids;
  for (size_t number = 0; number < words.distinct.size(); ++number) {
    ids.clear();
    bool known = true;
    each_character(words.distinct[number], [&](int32_t code_point, size_t at) {
      const auto found = characters.find(code_point);
      known &= found != characters.end();
      if (known) ids.push_back(at == 0 ? found->second.first : found->second.inside);
    });
    if (known) merger.add_piece(ids, words.counts[number]);
  }
  return merger;
}

}  // namespace

WordPieceVocabulary learn_wordpiece(int64_t vocabulary, const BertWordSettings& settings,
                                    const TextSource& text) {
  const bool usual = vocabulary == 0;
  if (usual) vocabulary = kUsualWordPieces;
  if (vocabulary < kSmallest)
    throw usage_error("wordpiece: a vocabulary of ", vocabulary, " was asked for; it needs at least ",
                      kSmallest, " (5 special tokens and a character)");
  WordPieceVocabulary made;
  made.words = settings;
  for (const char* special : WordPieceVocabulary::kSpecial) {
    made.added.push_back({static_cast<int32_t>(made.tokens.size()), special, true});
    made.tokens.emplace_back(special);
  }
  PairMerger merger;
  {
    const Words words = count_words(made, text);
    Characters characters = choose_characters(words, vocabulary - std::ssize(made.tokens));
    add_characters(characters, made);
    merger = start_of(words, characters);
  }
  merger.count_pairs();
  const size_t prefix = std::string_view(WordPieceVocabulary::kPrefix).size();
  while (std::ssize(made.tokens) < vocabulary) {
    const PairMerger::Best best = merger.take_best();
    if (best.count < kLeastPairCount && usual) break;
    if (best.count < kLeastPairCount)
      throw usage_error("wordpiece: a vocabulary of ", vocabulary,
                        " was asked for, but in this text nothing occurs twice beyond ", made.tokens.size(),
                        " tokens; ask for that many, or learn from more text");
    const auto [left, right] = best.pair;
    // Always a new token: the same string is merged the same way wherever it occurs, so only one pair
    // makes it.
    made.tokens.push_back(made.tokens[static_cast<size_t>(left)] +
                          made.tokens[static_cast<size_t>(right)].substr(prefix));
    merger.merge(best.pair, static_cast<int32_t>(made.tokens.size()) - 1);
  }
  return made;
}

}  // namespace heed::data
