#include "heed/data/unwrap.h"

#include <algorithm>

namespace heed::data {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr size_t kBlock = 1 << 20;  // how much of a mapped file is in memory at a time

bool is_item(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) return true;
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const std::string_view after = line.substr(digits, 2);
  return digits > 0 && (after == ". " || after == ") ");
}

// Whether a line, without its end, continues the paragraph of the line above.
bool continues(std::string_view line) {
  return !line.empty() && kBlanks.find(line[0]) == kBlanks.npos && !is_item(line);
}

}  // namespace

void unwrap(std::string_view text, const std::function<void(std::string_view)>& take) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t next = std::min(end + 1, text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const size_t written = line.find_last_not_of(kBlanks) + 1;  // 0: an empty line
    // Only the beginning of the next line counts.
    if (written > 0 && continues(text.substr(next, std::min(text.find('\n', next), text.size()) - next))) {
      take(line.substr(0, written));
      take(" ");
    } else {
      take(text.substr(begin, next - begin));
    }
    begin = next;
  }
}

void unwrap(Reading& to) {
  const TemporaryFolder folder;
  for (std::vector<TextSlice>& part : to.slices) {
    for (TextSlice& slice : part) {
      if (slice.text.empty()) continue;
      const std::filesystem::path copy = folder / std::to_string(to.files.size());
      write_file(copy, [&](std::ostream& out) {
        size_t forgotten = 0;
        unwrap(slice.text, [&](std::string_view piece) {
          out.write(piece.data(), std::ssize(piece));
          // A piece is of the text, or the blank that replaces the end of one.
          const size_t at = piece == " " ? forgotten : static_cast<size_t>(piece.data() - slice.text.data());
          if (at < forgotten + kBlock) return;
          slice.forget(forgotten, at);
          forgotten = at;
        });
      });
      // The mapping outlives the name of the file.
      to.files.push_back(std::make_unique<const MappedFile>(copy));
      slice = {to.files.back()->text(), to.files.back().get()};
    }
  }
}

}  // namespace heed::data
