// Text to token ids and back. One file per kind, one line in tokenizers.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"
#include "heed/base/registry.h"

namespace heed::data {

// Bytes of a text.
struct TokenSpan {
  size_t begin, end;
  bool operator==(const TokenSpan&) const = default;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string_view kind() const = 0;  // its name in `tokenizers`
  virtual int64_t size() const = 0;           // of the vocabulary V
  // Appends the ids of `text`, which may be any bytes. Throws for text that the vocabulary cannot
  // express. Texts cut at `cut_before` and encoded slice by slice give the ids of the whole. Several threads
  // may encode at once.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  // Also appends where in `text` each token comes from. Spans may share bytes where a character becomes
  // several tokens. Throws for kinds that do not know.
  virtual void encode_with_spans(std::string_view text, std::vector<int32_t>& ids,
                                 std::vector<TokenSpan>& spans) const;
  // A position <= `position`, not far before it, at which the text may be cut; `position` itself for bytes. 0
  // if there is none. `text` is the whole text, of which only some bytes around the answer are read.
  virtual size_t cut_before(std::string_view text, size_t position) const = 0;
  // The bytes of the ids, which need not be whole UTF-8 characters. Throws for an id out of range.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // How many tokens of the encoded text stand for words that the vocabulary lacks, which they do not tell
  // apart. `text` as for `encode`.
  virtual int64_t count_unknown(std::string_view) const { return 0; }
  // Whether texts that differ in capital letters or accents have the same ids. A loss per byte of such text
  // does not count them, so it does not compare with others.
  virtual bool folds_letters() const { return false; }
  // What tokenizer.json holds: Hugging Face's format, readable by `load_tokenizer`.
  virtual Json to_json() const = 0;
  // Of what to_json gives: two tokenizers with the same hash give the same ids. Folders of models keep it, so
  // it must not change from version to version.
  uint64_t hash() const;
  // The id that ends a line or a document; -1 where the vocabulary has none.
  virtual int32_t end() const { return -1; }
  // Whether each line is a text of its own, as in One Billion Word, so that training may shuffle them.
  virtual bool lines_are_unrelated() const { return false; }

 protected:
  // The id as an index. Throws if it is out of range.
  size_t index_of(int32_t id) const;
};

// How to build a vocabulary.
struct TokenizerSpec {
  std::string kind = "bytes";
  int64_t vocabulary = 0;
  std::string newline = "keep";
  bool cased = false;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("kind", kind, "bytes, characters, words, lm1b, bpe or wordpiece");
    field(
        "vocabulary", vocabulary,
        "size to learn, for bpe and wordpiece, 0: 4096; most words to keep, for words and lm1b, 0: no limit");
    field("newline", newline, "what a line end becomes with characters: keep, drop or eos");
    field("cased", cased, "keeps capital letters and accents, for wordpiece; the other kinds always do");
  }
};

// The text a vocabulary is learned from: calls its argument with each slice, in order. A slice is a separate
// text (a file): no line and no word continues in the next one.
using TextSource = std::function<void(const std::function<void(std::string_view)>&)>;

struct TokenizerEntry {
  std::string name;
  std::string meaning;
  std::unique_ptr<Tokenizer> (*learn)(const TokenizerSpec& spec, const TextSource& text);
  // From tokenizer.json; null if the file is of another kind. Throws if it is of this kind and damaged.
  std::unique_ptr<Tokenizer> (*read)(const Json& json);
  bool symbols = false;    // tokens are bytes or characters, so a loss is shown in bits and not as perplexity
  bool all_parts = false;  // the vocabulary is learned from all parts of a text, not only the training part
  int64_t usual_size = 0;  // of the vocabulary if no size is asked for; 0: whatever occurs in the text
  // Of memory that a tokenizer needs once it has been read, about: altogether, and for each token.
  int64_t bytes = 0, bytes_per_token = 0;
  bool has_cases = false;  // may drop capital letters and accents: TokenizerSpec::cased says whether
};
const Registry<TokenizerEntry>& tokenizers();

std::unique_ptr<Tokenizer> learn_tokenizer(const TokenizerSpec& spec, const TextSource& text);
// For kinds without a choice of line ends: refuses a `newline` that was set.
void refuse_newline(const TokenizerSpec& spec);
// From a tokenizer.json or BERT's vocab.txt, or from a folder that has one of them, or GPT-2's encoder.json
// and vocab.bpe.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

}  // namespace heed::data
