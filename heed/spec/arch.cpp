#include "heed/spec/arch.h"

#include <algorithm>
#include <cctype>

#include "heed/base/error.h"
#include "heed/spec/letters.h"

namespace heed::spec {
namespace {

constexpr size_t kMostBlocks = 4096;  // far above any real model; a hostile count must not fill memory

class Parser {
 public:
  explicit Parser(const std::string& arch) : arch_(arch) {}

  std::string parse() {
    std::string letters;
    for (skip_blanks(); at_ < arch_.size(); skip_blanks()) {
      if (arch_[at_] == '.') {
        ++at_;
      } else if (arch_[at_] == '(') {
        group(letters);
      } else {
        letters += letter();
      }
      if (letters.size() > kMostBlocks) fail(text("more than ", kMostBlocks, " blocks"));
    }
    if (letters.empty()) fail("no block at all");
    return letters;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw usage_error("architecture '", arch_.substr(0, 80), arch_.size() > 80 ? "..." : "", "': ", what,
                      " at character ", at_ + 1, "; write letters (", letter_names(),
                      ") and groups such as (sff)x5");
  }

  void skip_blanks() {
    while (at_ < arch_.size() && std::isspace(static_cast<unsigned char>(arch_[at_]))) ++at_;
  }

  char letter() {
    const char letter = arch_[at_];
    if (!is_letter(letter)) fail(text("'", letter, "' is not a block"));
    ++at_;
    return letter;
  }

  void group(std::string& letters) {
    std::string inside;
    ++at_;
    for (skip_blanks(); at_ < arch_.size() && arch_[at_] != ')'; skip_blanks()) inside += letter();
    if (at_ == arch_.size()) fail("a group that is not closed");
    if (inside.empty()) fail("an empty group");
    ++at_;
    size_t count = 1;
    if (at_ < arch_.size() && arch_[at_] == 'x') {
      const size_t digits = ++at_;
      for (count = 0; at_ < arch_.size() && std::isdigit(static_cast<unsigned char>(arch_[at_])); ++at_)
        count = std::min(10 * count + static_cast<size_t>(arch_[at_] - '0'), kMostBlocks + 1);
      if (at_ == digits) fail("a count is missing");
    }
    if (letters.size() + count * inside.size() > kMostBlocks)
      fail(text("more than ", kMostBlocks, " blocks"));
    for (size_t i = 0; i < count; ++i) letters += inside;
  }

  const std::string& arch_;
  size_t at_ = 0;
};

}  // namespace

std::string parse_arch(const std::string& arch) { return Parser(arch).parse(); }

std::vector<Repeat> group_repeats(const std::u32string& kinds) {
  // Greedy from the left: of all groups that begin here, the one that covers most; of equals, the shortest.
  std::vector<Repeat> repeats;
  for (size_t at = 0; at < kinds.size();) {
    Repeat best = {at, 1, 1};
    for (size_t size = 1; 2 * size <= kinds.size() - at; ++size) {
      size_t count = 1;
      while (at + (count + 1) * size <= kinds.size() &&
             kinds.compare(at, size, kinds, at + count * size, size) == 0)
        ++count;
      if (count > 1 && count * size > best.count * best.size) best = {at, size, count};
    }
    repeats.push_back(best);
    at += best.count * best.size;
  }
  return repeats;
}

std::string format_arch(const std::string& letters) {
  std::string out;
  for (const Repeat& repeat : group_repeats({letters.begin(), letters.end()})) {
    if (!out.empty()) out += ' ';
    out += '(' + letters.substr(repeat.begin, repeat.size) + ')';
    if (repeat.count > 1) out += 'x' + std::to_string(repeat.count);
  }
  return out;
}

}  // namespace heed::spec
