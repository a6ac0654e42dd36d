// The list of tokenizers.
#include "heed/base/files.h"
#include "heed/base/hash.h"
#include "heed/base/json.h"
#include "heed/data/bpe_files.h"
#include "heed/data/bpe_tokenizer.h"
#include "heed/data/bytes_tokenizer.h"
#include "heed/data/character_tokenizer.h"
#include "heed/data/tokenizer.h"
#include "heed/data/word_tokenizer.h"
#include "heed/data/wordpiece_files.h"
#include "heed/data/wordpiece_tokenizer.h"

namespace heed::data {

const Registry<TokenizerEntry>& tokenizers() {
  static const Registry<TokenizerEntry> all("tokenizer", {
                                                             bytes_tokenizer(),
                                                             character_tokenizer(),
                                                             word_tokenizer(),
                                                             lm1b_tokenizer(),
                                                             bpe_tokenizer(),
                                                             wordpiece_tokenizer(),
                                                         });
  return all;
}

std::unique_ptr<Tokenizer> learn_tokenizer(const TokenizerSpec& spec, const TextSource& text) {
  const TokenizerEntry& entry = tokenizers().find(spec.kind);
  if (spec.cased && !entry.has_cases)
    throw usage_error(spec.kind, ": cased was asked for, but it is a setting of wordpiece only; ", spec.kind,
                      " always keep capital letters");
  return entry.learn(spec, text);
}

void refuse_newline(const TokenizerSpec& spec) {
  if (spec.newline != TokenizerSpec().newline)
    throw usage_error(spec.kind, ": newline '", spec.newline,
                      "' was asked for, but it is a setting of characters only");
}

void Tokenizer::encode_with_spans(std::string_view, std::vector<int32_t>&, std::vector<TokenSpan>&) const {
  throw usage_error("the tokenizer ", kind(), " does not say where in a text its tokens are; wordpiece does");
}

uint64_t Tokenizer::hash() const { return hash_bytes(to_json().dump()); }

size_t Tokenizer::index_of(int32_t id) const {
  if (id < 0 || id >= size())
    throw usage_error("token ", id, " is not in the vocabulary, which has 0 to ", size() - 1);
  return static_cast<size_t>(id);
}

namespace {

namespace fs = std::filesystem;

Json read_json(const fs::path& path) {
  const MappedFile file(path);
  try {
    return parse_json(file.text());
  } catch (const Error& error) {
    throw damaged_error(path.string(), ": is ", error.what(), "; is it damaged?");
  }
}

std::unique_ptr<Tokenizer> read_any(const Json& json) {
  for (const TokenizerEntry& entry : tokenizers()) {
    if (auto made = entry.read(json)) return made;
  }
  throw usage_error(
      "is not a tokenizer heed can read; it reads byte-level BPE, BERT's WordPiece and what it wrote itself "
      "(",
      tokenizers().names(), ")");
}

// What `read` makes of a file; its errors name the file.
template <class Read>
std::unique_ptr<Tokenizer> from(const fs::path& path, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.kind(), text(path.string(), ": ", error.what()));
  }
}

std::unique_ptr<Tokenizer> load_gpt2(const fs::path& folder) {
  const Json encoder = read_json(folder / "encoder.json");
  const MappedFile merges(folder / "vocab.bpe");
  return from(folder, [&] { return make_bpe_tokenizer(bpe_from_gpt2_files(encoder, merges.text())); });
}

std::unique_ptr<Tokenizer> load_bert(const fs::path& vocabulary) {
  const fs::path settings = vocabulary.parent_path() / "tokenizer_config.json";
  const Json config = fs::exists(settings) ? read_json(settings) : Json();
  const MappedFile lines(vocabulary);
  return from(vocabulary,
              [&] { return make_wordpiece_tokenizer(wordpiece_from_lines(lines.text(), config)); });
}

std::unique_ptr<Tokenizer> load_whole(const fs::path& path) {
  const Json json = read_json(path);
  return from(path, [&] { return read_any(json); });
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& path) {
  if (!fs::is_directory(path)) return path.extension() == ".txt" ? load_bert(path) : load_whole(path);
  if (fs::exists(path / "tokenizer.json")) return load_whole(path / "tokenizer.json");
  if (fs::exists(path / "encoder.json") && fs::exists(path / "vocab.bpe")) return load_gpt2(path);
  if (fs::exists(path / "vocab.txt")) return load_bert(path / "vocab.txt");
  throw usage_error(path.string(),
                    ": has neither tokenizer.json nor encoder.json and vocab.bpe, and no vocab.txt");
}

}  // namespace heed::data
