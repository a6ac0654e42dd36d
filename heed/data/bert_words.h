// From text to words as BERT does it (Devlin et al., 2018), before WordPiece cuts the words:
//
// 1. Control, format and private-use characters, NUL, U+FFFD and bytes that are not UTF-8 are dropped; any
//    white space becomes a blank.
// 2. Chinese characters get a blank on both sides.
// 3. Lower case, with the two rules of Unicode that are not one letter for one: capital sigma at the end of a
//    word, and capital I with a dot.
// 4. Canonical decomposition (NFD), without nonspacing marks (Mn): "é" becomes "e".
// 5. Words are what stands between white space; every punctuation character is a word of its own. Signs such
//    as $ and + count too if they are ASCII.
//
// BERT's own code, Hugging Face's Python and Rust, and the npm package @huggingface/transformers differ in
// rare characters. Here
// - private-use characters are dropped and unassigned ones stay, as in the npm package. BERT's own code keeps
//   both, the Python library drops both;
// - capital sigma at the end of a word becomes a final one, as in BERT's own code and the npm package, not in
//   Rust;
// - Chinese characters are BERT's blocks. The npm package overlooks those beyond U+FFFF, since it walks
//   halves of them; the Rust library leaves out U+2B820 to U+2B91F.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace heed::data {

struct BertWordSettings {
  bool clean_text = true;          // step 1
  bool chinese_characters = true;  // step 2
  bool lower_case = true;          // step 3
  bool strip_accents = true;       // step 4
  bool operator==(const BertWordSettings&) const = default;
};

// A character of a word, and the bytes of the text it was made of.
struct WordCharacter {
  int32_t code_point;
  size_t begin, end;
};

// Steps 1 to 4. One object for each thread.
class BertNormalizer {
 public:
  explicit BertNormalizer(const BertWordSettings& settings) : settings_(settings) {}
  // Valid until the next call. Positions count from the start of `text`. A text that is cut at a blank, tab
  // or line end gives the same characters in parts.
  std::span<const WordCharacter> normalize(std::string_view text);

 private:
  uint8_t clean(std::string_view text);
  void lower();
  void strip_accents();

  BertWordSettings settings_;
  std::vector<WordCharacter> characters_, next_;
};

// Of normalised text.
bool is_word_space(int32_t code_point);
bool is_word_punctuation(int32_t code_point);

// Step 5: calls word(std::span<const WordCharacter>).
template <class Word>
void each_word(std::span<const WordCharacter> characters, Word&& word) {
  for (size_t begin = 0, end; begin < characters.size(); begin = end) {
    end = begin + 1;
    if (is_word_space(characters[begin].code_point)) continue;
    if (!is_word_punctuation(characters[begin].code_point)) {
      while (end < characters.size() && !is_word_space(characters[end].code_point) &&
             !is_word_punctuation(characters[end].code_point))
        ++end;
    }
    word(characters.subspan(begin, end - begin));
  }
}

enum class ByteClass : uint8_t { kBlank, kSign, kWord, kOther };  // kOther: control characters, beyond ASCII

inline ByteClass class_of_byte(char byte) {
  static constexpr std::array<ByteClass, 256> kClasses = [] {
    std::array<ByteClass, 256> classes{};
    classes.fill(ByteClass::kOther);
    for (size_t b = 0x21; b < 0x7F; ++b) classes[b] = ByteClass::kSign;
    for (const char blank : {' ', '\t', '\n', '\r'}) classes[static_cast<size_t>(blank)] = ByteClass::kBlank;
    for (const char c : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
      classes[static_cast<size_t>(c)] = ByteClass::kWord;
    return classes;
  }();
  return kClasses[static_cast<uint8_t>(byte)];
}

// Calls chunk(begin, end, simple) for whatever stands between blanks, tabs and line ends. If it is simple,
// each sign and each run of letters and digits is a word, and all that the steps do is to lower them.
template <class Chunk>
void each_chunk(std::string_view text, Chunk&& chunk) {
  for (size_t at = 0; at < text.size(); ++at) {
    ByteClass found = class_of_byte(text[at]);
    if (found == ByteClass::kBlank) continue;
    const size_t begin = at;
    bool simple = true;
    do {
      simple &= found != ByteClass::kOther;
    } while (++at < text.size() && (found = class_of_byte(text[at])) != ByteClass::kBlank);
    chunk(begin, at, simple);
  }
}

// The end of the word that begins at `begin` in a simple chunk that ends at `end`.
inline size_t simple_word_end(std::string_view text, size_t begin, size_t end) {
  size_t at = begin + 1;
  if (class_of_byte(text[begin]) == ByteClass::kWord) {
    while (at < end && class_of_byte(text[at]) == ByteClass::kWord) ++at;
  }
  return at;
}

}  // namespace heed::data
