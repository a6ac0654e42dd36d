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

namespace heed::data {

const Registry<TokenizerEntry>& tokenizers() {
  static const Registry<TokenizerEntry> all("tokenizer", {
                                                             bytes_tokenizer(),
                                                             character_tokenizer(),
                                                             word_tokenizer(),
                                                             lm1b_tokenizer(),
                                                             bpe_tokenizer(),
                                                         });
  return all;
}

std::unique_ptr<Tokenizer> learn_tokenizer(const TokenizerSpec& spec, const TextSource& text) {
  return tokenizers().find(spec.kind).learn(spec, text);
}

void refuse_newline(const TokenizerSpec& spec) {
  if (spec.newline != TokenizerSpec().newline)
    throw usage_error(spec.kind, ": newline '", spec.newline,
                      "' was asked for, but it is a setting of characters only");
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
  throw usage_error("is not a tokenizer heed can read; it reads byte-level BPE and what it wrote itself (",
                    tokenizers().names(), ")");
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& path) {
  const bool folder = fs::is_directory(path);
  const fs::path whole = folder ? path / "tokenizer.json" : path;
  const fs::path encoder = path / "encoder.json", merges = path / "vocab.bpe";
  if (folder && !fs::exists(whole)) {
    if (!fs::exists(encoder) || !fs::exists(merges))
      throw usage_error(path.string(), ": has neither tokenizer.json nor encoder.json and vocab.bpe");
    const Json json = read_json(encoder);
    const MappedFile lines(merges);
    try {
      return make_bpe_tokenizer(bpe_from_gpt2_files(json, lines.text()));
    } catch (const Error& error) {
      throw Error(error.kind(), text(path.string(), ": ", error.what()));
    }
  }
  const Json json = read_json(whole);
  try {
    return read_any(json);
  } catch (const Error& error) {
    throw Error(error.kind(), text(whole.string(), ": ", error.what()));
  }
}

}  // namespace heed::data
