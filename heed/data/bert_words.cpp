#include "heed/data/bert_words.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <memory>

#include "heed/base/error.h"
#include "heed/data/utf8.h"

namespace heed::data {
namespace {

constexpr int32_t kReplacement = 0xFFFD;
constexpr int32_t kCapitalSigma = 0x3A3, kSigma = 0x3C3, kFinalSigma = 0x3C2;
constexpr int32_t kDottedCapitalI = 0x130, kSmallI = 0x69, kDotAbove = 0x307;

enum Traits : uint8_t {
  kDropped = 1,  // by cleaning
  kSpace = 2,    // for cleaning, and between words
  kPunctuation = 4,
  kChinese = 8,
  kMark = 16,        // Mn
  kCapital = 32,     // has another lower case
  kDecomposes = 64,  // or is reordered by NFD; the character or its lower case
};

bool is_chinese(int32_t c) {
  constexpr int32_t kBlocks[][2] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                                    {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF},
                                    {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  return std::any_of(std::begin(kBlocks), std::end(kBlocks),
                     [c](const int32_t* block) { return c >= block[0] && c <= block[1]; });
}

constexpr size_t kMostDecomposed = 16;  // code points of one character in NFD: 4 in Unicode 15

std::span<const int32_t> decomposed(int32_t c, std::array<int32_t, kMostDecomposed>& into) {
  const auto count = utf8proc_decompose_char(c, into.data(), std::ssize(into), UTF8PROC_DECOMPOSE, nullptr);
  HEED_ASSERT(count > 0 && count <= std::ssize(into));
  return std::span(into).first(static_cast<size_t>(count));
}

int combining_class(int32_t c) { return utf8proc_get_property(c)->combining_class; }

bool changes_in_nfd(int32_t c) {
  std::array<int32_t, kMostDecomposed> into;
  const auto parts = decomposed(c, into);
  return parts.size() > 1 || parts[0] != c || combining_class(c) != 0;
}

uint8_t compute_traits(int32_t c) {
  unsigned traits = 0;
  const auto category = utf8proc_category(c);
  if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
      category == UTF8PROC_CATEGORY_CO || category == UTF8PROC_CATEGORY_CS || c == kReplacement)
    traits |= kDropped;
  if (c == '\t' || c == '\n' || c == '\r') traits &= ~unsigned{kDropped};
  // Those control characters and U+FEFF only stay where text is not cleaned; JavaScript's \s has them.
  if (category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
      category == UTF8PROC_CATEGORY_ZP || (c >= '\t' && c <= '\r') || c == 0xFEFF)
    traits |= kSpace;
  const bool ascii_sign =
      (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  if (ascii_sign || (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO))
    traits |= kPunctuation;
  if (is_chinese(c)) traits |= kChinese;
  if (category == UTF8PROC_CATEGORY_MN) traits |= kMark;
  const int32_t lower = utf8proc_tolower(c);
  if (lower != c) traits |= kCapital;
  if (changes_in_nfd(c) || changes_in_nfd(lower)) traits |= kDecomposes;
  return static_cast<uint8_t>(traits);
}

// Characters beyond the basic plane are rare enough to ask the library.
using Table = std::array<uint8_t, 0x10000>;

uint8_t traits_of(int32_t c) {
  static const std::unique_ptr<const Table> table = [] {
    auto made = std::make_unique<Table>();
    for (size_t i = 0; i < made->size(); ++i) (*made)[i] = compute_traits(static_cast<int32_t>(i));
    return made;
  }();
  return static_cast<size_t>(c) < table->size() ? (*table)[static_cast<size_t>(c)] : compute_traits(c);
}

bool in(int32_t c, int32_t first, int32_t last) { return c >= first && c <= last; }

// Unicode's Case_Ignorable: what may stand inside a word without being a letter of it.
bool is_case_ignorable(int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  constexpr int32_t kSigns[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,  0x5F4,  0x2018, 0x2019,
                                0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  return std::find(std::begin(kSigns), std::end(kSigns), c) != std::end(kSigns);
}

// Unicode's Cased, of what is not Case_Ignorable.
bool is_cased(int32_t c) {
  const auto category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT || c == 0xAA || c == 0xBA || in(c, 0x2160, 0x217F) ||
         in(c, 0x24B6, 0x24E9) || in(c, 0x1F130, 0x1F149) || in(c, 0x1F150, 0x1F169) ||
         in(c, 0x1F170, 0x1F189);
}

}  // namespace

bool is_word_space(int32_t code_point) { return traits_of(code_point) & kSpace; }
bool is_word_punctuation(int32_t code_point) { return traits_of(code_point) & kPunctuation; }

std::span<const WordCharacter> BertNormalizer::normalize(std::string_view text) {
  const uint8_t traits = clean(text);
  if (settings_.lower_case && (traits & kCapital)) lower();
  if (settings_.strip_accents && (traits & (kMark | kDecomposes))) strip_accents();
  return characters_;
}

// Steps 1 and 2. Returns the traits that occur.
uint8_t BertNormalizer::clean(std::string_view text) {
  characters_.clear();
  unsigned all = 0;
  for (size_t at = 0, end; at < text.size(); at = end) {
    const Utf8Character found = utf8_at(text, at);
    end = at + found.length;
    int32_t c = found.code_point < 0 ? kReplacement : found.code_point;
    const uint8_t traits = traits_of(c);
    if (settings_.clean_text) {
      if (traits & kDropped) continue;
      if (traits & kSpace) c = ' ';
    }
    all |= traits;
    if (settings_.chinese_characters && (traits & kChinese)) {
      characters_.insert(characters_.end(), {{' ', at, at}, {c, at, end}, {' ', end, end}});
    } else {
      characters_.push_back({c, at, end});
    }
  }
  return static_cast<uint8_t>(all);
}

void BertNormalizer::lower() {
  const auto cased_after = [&](size_t i) {
    while (++i < characters_.size()) {
      if (!is_case_ignorable(characters_[i].code_point)) return is_cased(characters_[i].code_point);
    }
    return false;
  };
  next_.clear();
  bool cased_before = false;  // the last character that is not ignorable
  for (size_t i = 0; i < characters_.size(); ++i) {
    const auto [c, begin, end] = characters_[i];
    if (c == kCapitalSigma) {
      next_.push_back({cased_before && !cased_after(i) ? kFinalSigma : kSigma, begin, end});
    } else if (c == kDottedCapitalI) {
      next_.insert(next_.end(), {{kSmallI, begin, end}, {kDotAbove, begin, end}});
    } else {
      next_.push_back({traits_of(c) & kCapital ? utf8proc_tolower(c) : c, begin, end});
    }
    if (!is_case_ignorable(c)) cased_before = is_cased(c);
  }
  characters_.swap(next_);
}

void BertNormalizer::strip_accents() {
  next_.clear();
  std::array<int32_t, kMostDecomposed> into;
  for (const WordCharacter& character : characters_) {
    if (!(traits_of(character.code_point) & kDecomposes)) {
      next_.push_back(character);
      continue;
    }
    for (const int32_t c : decomposed(character.code_point, into))
      next_.push_back({c, character.begin, character.end});
  }
  // Canonical order: by class within each run of characters that have one. What is reordered comes from the
  // bytes of the whole run, so that positions still rise.
  const auto starts = [](const WordCharacter& c) {
    return !(traits_of(c.code_point) & kDecomposes) || combining_class(c.code_point) == 0;
  };
  const auto lower_class = [](const WordCharacter& a, const WordCharacter& b) {
    return combining_class(a.code_point) < combining_class(b.code_point);
  };
  for (auto begin = next_.begin(); begin != next_.end();) {
    const auto end = starts(*begin) ? begin + 1 : std::find_if(begin, next_.end(), starts);
    if (!std::is_sorted(begin, end, lower_class)) {
      const size_t first = begin->begin, last = (end - 1)->end;
      std::stable_sort(begin, end, lower_class);
      for (WordCharacter& c : std::span(begin, end)) c.begin = first, c.end = last;
    }
    begin = end;
  }
  std::erase_if(next_, [](const WordCharacter& c) { return traits_of(c.code_point) & kMark; });
  characters_.swap(next_);
}

}  // namespace heed::data
