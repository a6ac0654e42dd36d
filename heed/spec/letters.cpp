#include "heed/spec/letters.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::spec {
namespace {

constexpr Size kHeads = {.name = "heads", .title = "heads", .mark = "", .usual = 12, .divides_width = true};
constexpr Size kInner = {
    .name = "inner", .title = "inner width", .mark = ":", .usual = 3072, .grows_with_width = true};
constexpr Size kProjection = {.name = "projection", .title = "projection", .mark = "/", .usual = 192};

std::vector<Size> all_sizes() {
  std::vector<Size> all;
  for (const Letter& row : letters()) {
    for (const Size& size : row.sizes) {
      const auto is_same = [&](const Size& known) { return std::string_view(known.name) == size.name; };
      if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(size);
    }
  }
  HEED_ASSERT(all.size() <= kMostSizes);
  return all;
}

const Letter* find(char letter) {
  for (const Letter& row : letters()) {
    if (row.letter == letter) return &row;
  }
  return nullptr;
}

}  // namespace

bool Letter::has(std::string_view size) const {
  return std::any_of(sizes.begin(), sizes.end(), [&](const Size& known) { return known.name == size; });
}

const std::vector<Letter>& letters() {
#define HEED_LETTER(letter, function, name, attention, ...) \
  {letter, name, attention, {__VA_ARGS__}, std::string_view(#function) == "identity"},
  static const std::vector<Letter> table = {
#include "heed/spec/letters.def"
  };
#undef HEED_LETTER
  return table;
}

bool is_letter(char letter) { return find(letter); }

const Letter& letter_row(char letter) {
  const Letter* row = find(letter);
  if (!row) throw usage_error("'", letter, "' is not a block; blocks are ", letter_names());
  return *row;
}

std::string letter_names() {
  std::string names;
  for (const Letter& row : letters()) names += text(names.empty() ? "" : ", ", row.letter);
  return names;
}

std::string without_identity(std::string_view letters_of_blocks) {
  std::string rest;
  for (const char letter : letters_of_blocks) {
    if (!letter_row(letter).identity) rest += letter;
  }
  return rest;
}

std::string identity_arch() {
  const auto row =
      std::find_if(letters().begin(), letters().end(), [](const Letter& l) { return l.identity; });
  HEED_ASSERT(row != letters().end());
  return {row->letter};
}

const std::vector<Size>& sizes() {
  static const std::vector<Size> all = all_sizes();
  return all;
}

size_t size_index(std::string_view name) {
  const std::vector<Size>& all = sizes();
  const auto is_it = [&](const Size& size) { return size.name == name; };
  const auto found = std::find_if(all.begin(), all.end(), is_it);
  HEED_ASSERT(found != all.end());
  return static_cast<size_t>(found - all.begin());
}

std::string describe(const Block& block) {
  const Letter& row = letter_row(block.letter);
  std::string what = row.name;
  for (const Size& size : row.sizes) what += text(", ", size.title, " ", block[size.name]);
  return what;
}

}  // namespace heed::spec
