// BERT's vocab.txt with the tokenizer_config.json beside it (data/wordpiece_files.h), and a text to encode.
#include "tests/fuzz/tokenizer_check.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const fuzz::Folder folder(input, {"vocab.txt", "tokenizer_config.json", "text"});
  fuzz::answers([&] {
    const auto tokenizer = data::load_tokenizer(folder.path());
    const bool has_text = std::filesystem::exists(folder.path() / "text");
    fuzz::check_tokenizer(*tokenizer, has_text ? MappedFile(folder.path() / "text").text() : "");
  });
}
