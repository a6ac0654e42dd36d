// tokenizer.json, of every kind heed knows (data/tokenizer.h). The first line is the text to encode.
#include "tests/fuzz/tokenizer_check.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const std::string text(fuzz::take_line(input));
  fuzz::answers([&] {
    fuzz::check_tokenizer(*data::load_tokenizer(fuzz::file_with(input, "tokenizer.json")),
                          text + "\n" + text);
  });
}
