#include "heed/data/pretokenize.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <string>
#include <vector>

#include "heed/data/byte_level.h"
#include "heed/data/string_table.h"
#include "heed/data/utf8.h"
#include "tests/support/random_text.h"

namespace heed::data {
namespace {

using Pieces = std::vector<std::string>;

Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  for (size_t at = 0, end; at < text.size(); at = end) {
    end = pretoken_end(text, at);
    if (end <= at || end > text.size()) {
      ADD_FAILURE() << "a piece from " << at << " to " << end;
      break;
    }
    pieces.emplace_back(text.substr(at, end - at));
  }
  return pieces;
}

TEST(Pretokenize, Words) {
  EXPECT_EQ(pieces_of(""), Pieces());
  EXPECT_EQ(pieces_of("Hello world"), (Pieces{"Hello", " world"}));
  EXPECT_EQ(pieces_of("abc123 4,5 x"), (Pieces{"abc", "123", " 4", ",", "5", " x"}));
  EXPECT_EQ(pieces_of("a...b !? c"), (Pieces{"a", "...", "b", " !?", " c"}));
}

TEST(Pretokenize, Contractions) {
  EXPECT_EQ(
      pieces_of("I'm you're he'd we'll it's I've can't"),
      (Pieces{"I", "'m", " you", "'re", " he", "'d", " we", "'ll", " it", "'s", " I", "'ve", " can", "'t"}));
  EXPECT_EQ(pieces_of("'sun 'S 's"), (Pieces{"'s", "un", " '", "S", " '", "s"}));
  EXPECT_EQ(pieces_of("!'s ''s"), (Pieces{"!'", "s", " ''", "s"}));
  EXPECT_EQ(pieces_of("x'r"), (Pieces{"x", "'", "r"}));
  EXPECT_EQ(pieces_of("x'la'ra'vx"), (Pieces{"x", "'", "la", "'", "ra", "'", "vx"}));
  EXPECT_EQ(pieces_of("x'"), (Pieces{"x", "'"}));
}

TEST(Pretokenize, WhiteSpaceLeavesOneForTheNextPiece) {
  EXPECT_EQ(pieces_of("a  b"), (Pieces{"a", " ", " b"}));
  EXPECT_EQ(pieces_of("a\n\n\nb"), (Pieces{"a", "\n\n", "\n", "b"}));
  EXPECT_EQ(pieces_of("a \n b"), (Pieces{"a", " \n", " b"}));
  EXPECT_EQ(pieces_of("a\n b"), (Pieces{"a", "\n", " b"}));
  EXPECT_EQ(pieces_of("a\tb"), (Pieces{"a", "\t", "b"}));
  EXPECT_EQ(pieces_of("a  \n"), (Pieces{"a", "  \n"}));
  EXPECT_EQ(pieces_of(" "), (Pieces{" "}));
  // A space of more than one byte goes back whole, and does not belong to the next piece.
  EXPECT_EQ(pieces_of("a \u3000\u00a0b"), (Pieces{"a", " \u3000", "\u00a0", "b"}));
}

TEST(Pretokenize, OtherScripts) {
  EXPECT_EQ(pieces_of("日本語、です 12٣½"), (Pieces{"日本語", "、", "です", " 12٣½"}));
  EXPECT_EQ(pieces_of("e\u0301a"), (Pieces{"e", "\u0301", "a"}));  // a combining mark is no letter
  EXPECT_EQ(pieces_of("𝔸𝟙😀"), (Pieces{"𝔸", "𝟙", "😀"}));            // beyond the basic plane
}

TEST(Pretokenize, DamagedBytesAreOtherSigns) {
  EXPECT_EQ(pieces_of("a\xff\xfe b"), (Pieces{"a", "\xff\xfe", " b"}));
  EXPECT_EQ(pieces_of("\xe5\xad"), (Pieces{"\xe5\xad"}));                      // a character without its end
  EXPECT_EQ(pieces_of("a\xc1\xa1 \xc2"), (Pieces{"a", "\xc1\xa1", " \xc2"}));  // overlong 'a'
  EXPECT_EQ(pieces_of("a\xed\xa0\x80z"), (Pieces{"a", "\xed\xa0\x80", "z"}));  // a surrogate
  EXPECT_EQ(pieces_of("\xc3.\xa9\xc3\xa9"), (Pieces{"\xc3.\xa9", "\xc3\xa9"}));  // then a whole é
}

// The pattern once more, written as it reads: alternatives in order, each as long as it can be.
Pieces plain_pieces(std::string_view text) {
  struct Sign {
    char kind;  // L, N, S(pace), O(ther)
    std::string bytes;
  };
  std::vector<Sign> signs;
  for (size_t at = 0; at < text.size();) {
    const auto [code_point, length] = utf8_at(text, at);
    const char category = code_point < 0 ? 'C' : *utf8proc_category_string(code_point);
    const bool space = category == 'Z' || (code_point >= 9 && code_point <= 13) || code_point == 0x85;
    signs.push_back({space                                ? 'S'
                     : category == 'L' || category == 'N' ? category
                                                          : 'O',
                     std::string(text.substr(at, length))});
    at += length;
  }
  const auto run = [&](size_t from, char kind) {
    size_t end = from;
    while (end < signs.size() && signs[end].kind == kind) ++end;
    return end - from;
  };
  const auto length_at = [&](size_t at) -> size_t {
    for (const std::string ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      std::string ahead;
      for (size_t i = at; i < std::min(signs.size(), at + ending.size()); ++i) ahead += signs[i].bytes;
      if (ahead == ending) return ending.size();
    }
    for (char kind : {'L', 'N', 'O'}) {
      const size_t space = signs[at].bytes == " ";
      if (const size_t n = run(at + space, kind)) return space + n;
    }
    const size_t spaces = run(at, 'S');
    return at + spaces == signs.size() || spaces == 1 ? spaces : spaces - 1;
  };
  Pieces pieces;
  for (size_t at = 0; at < signs.size();) {
    std::string piece;
    for (size_t n = length_at(at); n > 0; --n) piece += signs[at++].bytes;
    pieces.push_back(piece);
  }
  return pieces;
}

TEST(Pretokenize, AgreesWithThePatternReadPlainly) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    const std::string text =
        seed % 3 == 0 ? test::random_bytes(rng, rng.below(60)) : test::random_text(rng, rng.below(30));
    ASSERT_EQ(pieces_of(text), plain_pieces(text)) << "seed " << seed;
  }
}

TEST(Pretokenize, CutsDoNotChangePieces) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Rng rng(seed, 1);
    const std::string text =
        seed % 3 == 0 ? test::random_bytes(rng, rng.below(60)) : test::random_text(rng, rng.below(30));
    const Pieces whole = pieces_of(text);
    for (size_t position = 0; position <= text.size() + 1; ++position) {
      const size_t cut = pretoken_cut_before(text, position);
      ASSERT_LE(cut, position);
      Pieces parts = pieces_of(std::string_view(text).substr(0, cut));
      for (const std::string& piece : pieces_of(std::string_view(text).substr(cut))) parts.push_back(piece);
      ASSERT_EQ(parts, whole) << "seed " << seed << ", cut at " << cut;
    }
  }
}

TEST(Pretokenize, CutsAreNear) {
  const std::string words = "it's a word  and\n\nanother, 12 more";
  EXPECT_EQ(pretoken_cut_before(words, words.size()), words.size());
  EXPECT_EQ(pretoken_cut_before(words, 4), 4u);    // before the space
  EXPECT_EQ(pretoken_cut_before(words, 3), 2u);    // not inside 's, but before it
  EXPECT_EQ(pretoken_cut_before(words, 13), 11u);  // not inside the two spaces
  EXPECT_EQ(pretoken_cut_before("abc", 2), 0u);
  EXPECT_EQ(pretoken_cut_before("", 0), 0u);
  EXPECT_EQ(pretoken_cut_before("今日は。明日", 14),
            9u);  // before the full stop; what follows it may not be cut off
}

TEST(ByteLevel, AlphabetIsGpt2s) {
  std::string all;
  for (int b = 0; b < 256; ++b) all += static_cast<char>(b);
  EXPECT_EQ(from_byte_level(to_byte_level(all)), all);
  EXPECT_EQ(to_byte_level(" \n!~\x7f\xa1\xad\xff"), "ĠĊ!~ġ¡Ńÿ");
  EXPECT_EQ(byte_level_order()[0], '!');
  EXPECT_EQ(byte_level_order()[188], 0);  // the first of the borrowed ones
  EXPECT_EQ(byte_level_order()[255], 0xad);
  for (const char* text : {" ", "\n", "ń", "字", "😀"}) EXPECT_FALSE(from_byte_level(text)) << text;
}

TEST(StringTable, NumbersInOrderOfAppearance) {
  StringTable table;
  std::vector<std::string> strings;
  for (int i = 0; i < 5000; ++i)
    strings.push_back(std::string(static_cast<size_t>(i % 40), 'x') + std::to_string(i));
  strings.push_back(std::string("a\0b", 3));
  strings.push_back(std::string("a\0", 2));
  strings.push_back("a");
  strings.push_back("");
  for (size_t i = 0; i < strings.size(); ++i) EXPECT_EQ(table.add(strings[i]), i);
  for (size_t i = 0; i < strings.size(); ++i) {
    EXPECT_EQ(table.add(strings[i]), i);
    EXPECT_EQ(table.find(strings[i]), static_cast<int64_t>(i));
    EXPECT_EQ(table[i], strings[i]);
  }
  EXPECT_EQ(table.size(), strings.size());
  EXPECT_EQ(table.find("absent"), -1);
}

}  // namespace
}  // namespace heed::data
