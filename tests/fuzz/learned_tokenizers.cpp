// Vocabularies learned from any bytes, and those bytes as ids (data/tokenizer.h).
#include "tests/fuzz/tokenizer_check.h"

using namespace heed;

namespace {

void check_tokenizer(const data::TokenizerSpec& spec, std::string_view input, size_t wanted) {
  std::unique_ptr<data::Tokenizer> tokenizer;
  if (!fuzz::answers([&] { tokenizer = learn_tokenizer(spec, [&](const auto& take) { take(input); }); }))
    return;
  fuzz::must("a vocabulary can say the text it was learned from", [&] {
    std::vector<int32_t> ids, parts, again;
    tokenizer->encode(input, ids);
    const std::string text = tokenizer->decode(ids);
    if (spec.kind == "bytes" || spec.kind == "bpe" || (spec.kind == "characters" && spec.newline != "drop"))
      fuzz::law(text == input, "ids stand for the text");
    tokenizer->encode(text, again);
    // A text that writes the end of a line as a word has it mean one.
    const bool writes_ends = input.find("<eos>") != input.npos || input.find("<S>") != input.npos;
    fuzz::law(again == ids || writes_ends, "ids -> text -> ids");
    const size_t cut = tokenizer->cut_before(input, wanted);
    fuzz::law(cut <= input.size(), "a cut is in the text");
    tokenizer->encode(input.substr(0, cut), parts);
    tokenizer->encode(input.substr(cut), parts);
    fuzz::law(parts == ids, "parts of a cut text give the ids of the whole");
    fuzz::check_spans(*tokenizer, input, ids);
  });
}

}  // namespace

HEED_FUZZ_TARGET(input) {
  if (input.empty()) return;
  const size_t wanted = static_cast<uint8_t>(input[0]) % (input.size() + 1);
  static const data::TokenizerSpec specs[] = {
      {"bytes", 0, "keep"},      {"words", 0, "keep"},           {"words", 5, "keep"},
      {"lm1b", 0, "keep"},       {"characters", 0, "keep"},      {"characters", 0, "drop"},
      {"characters", 0, "eos"},  {"bpe", 259, "keep"},           {"wordpiece", 0, "keep"},
      {"wordpiece", 20, "keep"}, {"wordpiece", 0, "keep", true},
  };
  // One of them at a time: each run is short then.
  check_tokenizer(specs[wanted % std::size(specs)], input, wanted);
}
