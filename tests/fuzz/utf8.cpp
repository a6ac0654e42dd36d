// Any bytes as text: UTF-8 in pieces (base/utf8.h), and GPT-2's splitter (data/pretokenize.h).
#include "heed/base/utf8.h"

#include "heed/data/pretokenize.h"
#include "heed/data/utf8.h"
#include "tests/fuzz/support.h"

using namespace heed;

namespace {

void check_stream(std::string_view input) {
  Utf8Stream whole, pieces;
  const std::string expected = whole.push(input) + whole.finish();
  fuzz::law(data::is_utf8(expected), "a stream gives UTF-8");
  fuzz::law(!data::is_utf8(input) || expected == input, "UTF-8 stays as it is");
  std::string bytewise;
  for (const char byte : input) {
    bytewise += pieces.push({&byte, 1});
    fuzz::law(data::is_utf8(bytewise), "a stream gives whole characters");
  }
  fuzz::law(bytewise + pieces.finish() == expected, "pieces give the text of the whole");
}

std::vector<size_t> ends_of(std::string_view text, size_t offset) {
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size(); at = ends.back() - offset) {
    ends.push_back(offset + data::pretoken_end(text, at));
    fuzz::law(ends.back() - offset > at && ends.back() - offset <= text.size(), "every piece has bytes");
  }
  return ends;
}

void check_cut(std::string_view input, size_t wanted) {
  const size_t cut = data::pretoken_cut_before(input, wanted);
  fuzz::law(cut <= wanted, "a cut is not after the place asked for");
  std::vector<size_t> ends = ends_of(input.substr(0, cut), 0);
  for (const size_t end : ends_of(input.substr(cut), cut)) ends.push_back(end);
  fuzz::law(ends == ends_of(input, 0), "parts of a cut text have the pieces of the whole");
}

}  // namespace

HEED_FUZZ_TARGET(input) {
  if (input.empty()) return;
  check_stream(input);
  check_cut(input, static_cast<uint8_t>(input[0]) % (input.size() + 1));
}
