// The letters of architecture strings and the sizes of their blocks, from the table in letters.def.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::spec {

// A number that may differ from block to block, such as the heads of attention.
struct Size {
  const char* name;               // its key in recipes, spaces and reports
  const char* title;              // for people: "inner width"
  const char* mark;               // stands before its value in the name of a candidate: "sf8:1024"
  int64_t usual;                  // the default if no backbone or recipe sets it
  bool divides_width = false;     // unless the model gives head_width
  bool grows_with_width = false;  // a space may ask for at least NAME_over_width times the width
};

enum class Attention {
  kNone,
  kByPosition,  // tells keys apart by their position
  kByContent,   // knows no positions, only which keys are visible
};

struct Letter {
  char letter;
  const char* name;
  Attention attention;
  std::vector<Size> sizes;
  bool identity;  // the block returns its input

  bool has(std::string_view size) const;
};

// In the order of the table.
const std::vector<Letter>& letters();
bool is_letter(char letter);
// Throws an Error if the table has no such letter.
const Letter& letter_row(char letter);
// "s, f, i, r, a", for messages.
std::string letter_names();
// The letters without those whose block returns its input.
std::string without_identity(std::string_view letters);
// A model without blocks, as a string.
std::string identity_arch();

// All sizes that letters have, each once, in the order of the table.
const std::vector<Size>& sizes();
size_t size_index(std::string_view name);  // its index in sizes()
inline constexpr size_t kMostSizes = 6;

// A value for every size, by index in sizes() or by name.
template <class T>
struct BySize : std::array<T, kMostSizes> {
  BySize() : std::array<T, kMostSizes>{} {}
  // {{"heads", 8}, {"inner", 1024}}; the others stay 0.
  BySize(std::initializer_list<std::pair<std::string_view, T>> named) : BySize() {
    for (const auto& [name, value] : named) (*this)[name] = value;
  }
  using std::array<T, kMostSizes>::operator[];
  T& operator[](std::string_view name) { return (*this)[size_index(name)]; }
  const T& operator[](std::string_view name) const { return (*this)[size_index(name)]; }
};
using SizeValues = BySize<int64_t>;              // 0 where a block or a layer has no such size
using SizeLists = BySize<std::vector<int64_t>>;  // values to choose from, or one per block

// One block of a model.
struct Block {
  char letter = 0;  // 0: none yet
  SizeValues sizes;

  bool is_identity() const { return letter_row(letter).identity; }
  int64_t operator[](std::string_view size) const { return sizes[size]; }
  Attention attention() const { return letter_row(letter).attention; }
  bool operator==(const Block&) const = default;
};

// "self-attention, heads 8".
std::string describe(const Block& block);

}  // namespace heed::spec
