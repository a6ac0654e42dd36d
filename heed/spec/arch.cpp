#include "heed/spec/arch.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "heed/base/error.h"
#include "heed/spec/letters.h"

namespace heed::spec {
namespace {

constexpr size_t kMostBlocks = 4096;  // far above any real model; a hostile count must not fill memory

class Parser {
 public:
  explicit Parser(const std::string& arch) : arch_(arch) {}

  std::vector<ArchGroup> parse() {
    for (skip_blanks(); at_ < arch_.size(); skip_blanks()) arch_[at_] == '(' ? group() : run();
    if (groups_.empty()) fail("no block at all");
    return std::move(groups_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw usage_error("architecture '", arch_.substr(0, 80), arch_.size() > 80 ? "..." : "", "': ", what,
                      " at character ", at_ + 1, "; write letters (", letter_names(),
                      ") and groups such as (sff)x5");
  }

  static bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

  void skip_blanks() {
    while (at_ < arch_.size() && is_blank(arch_[at_])) ++at_;
  }

  char letter() {
    const char letter = arch_[at_];
    if (!is_letter(letter)) fail(text("'", letter, "' is not a block"));
    ++at_;
    return letter;
  }

  void add(ArchGroup group) {
    blocks_ += group.count * group.letters.size();
    if (blocks_ > kMostBlocks) fail(text("more than ", kMostBlocks, " blocks"));
    if (group.count > 0 && !group.letters.empty()) groups_.push_back(std::move(group));
  }

  // Letters without parentheses, up to a blank.
  void run() {
    std::string letters;
    const auto goes_on = [&] {
      return at_ < arch_.size() && !is_blank(arch_[at_]) && arch_[at_] != '(' &&
             letters.size() <= kMostBlocks;
    };
    while (goes_on()) {
      if (arch_[at_] == '.') {
        ++at_;
      } else {
        letters += letter();
      }
    }
    add({letters, 1});
  }

  void group() {
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
    add({inside, count});
  }

  const std::string& arch_;
  size_t at_ = 0, blocks_ = 0;
  std::vector<ArchGroup> groups_;
};

}  // namespace

std::vector<ArchGroup> arch_groups(const std::string& arch) { return Parser(arch).parse(); }

std::string parse_arch(const std::string& arch) {
  std::string letters;
  for (const ArchGroup& group : arch_groups(arch)) {
    for (size_t i = 0; i < group.count; ++i) letters += group.letters;
  }
  return letters;
}

namespace {

// How many blocks each unit of the string has. Letters that were not grouped at all are units themselves.
std::vector<size_t> unit_sizes(const std::string& arch) {
  const std::vector<ArchGroup> groups = arch_groups(arch);
  if (groups.size() == 1 && groups[0].count == 1) return std::vector<size_t>(groups[0].letters.size(), 1);
  std::vector<size_t> sizes;
  for (const ArchGroup& group : groups) sizes.insert(sizes.end(), group.count, group.letters.size());
  return sizes;
}

}  // namespace

std::vector<Repeat> written_repeats(const std::string& arch, const std::u32string& kinds) {
  std::map<std::u32string, char32_t> known;
  std::u32string units;
  std::vector<size_t> begins = {0};  // in `kinds`, of each unit and of what would follow
  for (const size_t size : unit_sizes(arch)) {
    const auto unit =
        known.try_emplace(kinds.substr(begins.back(), size), static_cast<char32_t>(known.size()));
    units += unit.first->second;
    begins.push_back(begins.back() + size);
  }
  std::vector<Repeat> repeats = group_repeats(units);
  for (Repeat& repeat : repeats)
    repeat = {begins[repeat.begin], begins[repeat.begin + repeat.size] - begins[repeat.begin], repeat.count};
  return repeats;
}

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
