// Files of tokens (data/token_stream.h) beside a text: the input as it is, and as one that names this text
// and has the right checksum.
#include "heed/data/token_stream.h"

#include "heed/base/hash.h"
#include "tests/fuzz/support.h"

using namespace heed;

namespace {

// Behind the tokens and the ends of slices: magic, version and two hashes, 5 numbers, checksum.
constexpr size_t kNames = 32, kDescription = 72, kChecksum = 8;

std::string named_and_checked(std::string_view input, std::string_view good) {
  std::string file(input);
  if (file.size() < kDescription) file.resize(kDescription, '\0');
  const std::string_view description = good.substr(good.size() - kChecksum - kDescription);
  file.replace(file.size() - kDescription, kNames, description.substr(0, kNames));
  const uint64_t checksum = hash_bytes(file);
  return file.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

}  // namespace

HEED_FUZZ_TARGET(input) {
  static const TemporaryFolder folder;
  static const data::Corpus corpus = [] {
    fuzz::write(folder / "texts" / "a.txt", "some text\nof two lines\n");
    fuzz::write(folder / "texts" / "b.txt", "and another text\n");
    return data::open_corpus(folder / "texts");
  }();
  static const auto tokenizer = data::learn_tokenizer({}, corpus.text({data::Split::kTrain}));
  const data::Part& part = corpus.part(data::Split::kTrain);
  const std::filesystem::path cache = folder / "tokens";
  static const std::filesystem::path path = data::TokenStream(part, *tokenizer, cache).file();
  static const std::string good(MappedFile(path).text());
  for (const std::string& file : {std::string(input), named_and_checked(input, good)}) {
    fuzz::write(path, file);
    const data::TokenStream stream(part, *tokenizer, cache);
    fuzz::law(stream.counts().bytes == part.bytes(), "the tokens stand for the text");
    fuzz::law(stream.slice_ends().size() == part.slices.size(), "each slice has an end");
    fuzz::law(std::is_sorted(stream.slice_ends().begin(), stream.slice_ends().end()), "slices are in order");
    fuzz::law(stream.slice_ends().back() == stream.size(), "the last slice ends with the tokens");
    std::vector<int32_t> tokens(static_cast<size_t>(stream.size()));
    stream.copy(0, stream.size(), tokens.data());
  }
}
