#include "heed/data/wordpiece_tokenizer.h"

#include <algorithm>
#include <array>

#include "heed/data/added_tokens.h"
#include "heed/data/piece_cache.h"
#include "heed/data/piece_trie.h"
#include "heed/data/wordpiece_files.h"
#include "heed/data/wordpiece_training.h"

namespace heed::data {
namespace {

class WordPieceTokenizer : public Tokenizer {
 public:
  static constexpr const char* kKind = "wordpiece";

  explicit WordPieceTokenizer(WordPieceVocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)), special_(vocabulary_.added), pieces_(vocabulary_.tokens) {
    inside_ = PieceTrie::kRoot;
    for (const char sign : std::string_view(WordPieceVocabulary::kPrefix))
      inside_ = pieces_.child(inside_, sign);
    for (const AddedToken& token : vocabulary_.added) {
      if (token.content == WordPieceVocabulary::kUnknown) unknown_ = token.id;
    }
    std::vector<Piece> found;
    for (size_t byte = 0; byte < signs_.size(); ++byte) {
      const WordCharacter sign = {static_cast<int32_t>(byte), 0, 1};
      found.clear();
      cut({&sign, 1}, found);
      signs_[byte] = found[0].id;
    }
  }

  std::string_view kind() const override { return kKind; }
  int64_t size() const override { return static_cast<int64_t>(vocabulary_.tokens.size()); }
  Json to_json() const override { return wordpiece_to_json(vocabulary_); }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    Encoder encoder(*this, ids);
    special_.split(
        text, [&](size_t begin, size_t end) { encoder.append(text.substr(begin, end - begin)); },
        [&](size_t, size_t, int32_t id) { ids.push_back(id); });
  }

  // As BERT computes it, without short cuts.
  void encode_with_spans(std::string_view text, std::vector<int32_t>& ids,
                         std::vector<TokenSpan>& spans) const override {
    BertNormalizer normalizer(vocabulary_.words);
    std::vector<Piece> found;
    const auto stretch = [&](size_t from, size_t to) {
      each_chunk(text.substr(from, to - from), [&](size_t begin, size_t end, bool) {
        const size_t chunk = from + begin;
        each_word(normalizer.normalize(text.substr(chunk, end - begin)), [&](auto word) {
          found.clear();
          cut(word, found);
          for (const Piece& piece : found) {
            ids.push_back(piece.id);
            spans.push_back({chunk + word[piece.begin].begin, chunk + word[piece.end - 1].end});
          }
        });
      });
    };
    special_.split(text, stretch, [&](size_t begin, size_t end, int32_t id) {
      ids.push_back(id);
      spans.push_back({begin, end});
    });
  }

  int64_t count_unknown(std::string_view text) const override {
    std::vector<int32_t> ids;
    Encoder encoder(*this, ids);
    special_.split(
        text, [&](size_t begin, size_t end) { encoder.append(text.substr(begin, end - begin)); },
        [](size_t, size_t, int32_t) {});
    return std::count(ids.begin(), ids.end(), unknown_);
  }

  bool folds_letters() const override {
    return vocabulary_.words.lower_case || vocabulary_.words.strip_accents;
  }

  // Before or after a blank: neither a word nor what decides about its letters reaches over it.
  size_t cut_before(std::string_view text, size_t position) const override {
    if (position >= text.size()) return text.size();
    const auto blank = [&](size_t at) { return class_of_byte(text[at]) == ByteClass::kBlank; };
    while (position > 0 && !blank(position) && !blank(position - 1)) --position;
    return position;
  }

  // Words with a blank between them, but none before the signs that close a clause.
  std::string decode(std::span<const int32_t> ids) const override {
    constexpr std::string_view kPrefix = WordPieceVocabulary::kPrefix;
    std::string text;
    for (const int32_t id : ids) {
      std::string_view token = vocabulary_.tokens[index_of(id)];
      const bool continues = token.starts_with(kPrefix) && token.size() > kPrefix.size();
      const bool closes = token.size() == 1 && std::string_view(".,;:!?)").find(token[0]) != token.npos;
      if (continues) token.remove_prefix(kPrefix.size());
      if (!text.empty() && !continues && !closes) text += ' ';
      text += token;
    }
    return text;
  }

 private:
  struct Piece {
    int32_t id;
    size_t begin, end;  // characters of the word
  };

  // Appends the pieces of a word, at least one.
  void cut(std::span<const WordCharacter> word, std::vector<Piece>& found) const {
    const size_t before = found.size();
    for (size_t begin = 0; begin < word.size();) {
      Piece longest = {-1, begin, begin};
      PieceTrie::Node node = begin == 0 ? PieceTrie::kRoot : inside_;
      for (size_t i = begin; i < word.size(); ++i) {
        node = pieces_.child(node, word[i].code_point);
        if (node == PieceTrie::kNone) break;
        if (pieces_.id(node) >= 0) longest = {pieces_.id(node), begin, i + 1};
      }
      if (longest.id < 0 || std::ssize(word) > vocabulary_.longest_word) {
        found.resize(before);
        found.push_back({unknown_, 0, word.size()});
        return;
      }
      found.push_back(longest);
      begin = longest.end;
    }
  }

  // Texts without special tokens to ids. Words of ASCII, and short chunks with other characters, are mostly
  // found in the cache.
  class Encoder {
   public:
    Encoder(const WordPieceTokenizer& tokenizer, std::vector<int32_t>& ids)
        : tokenizer_(tokenizer),
          ids_(ids),
          cache_(tokenizer.caches_.borrow()),
          normalizer_(tokenizer.vocabulary_.words) {}

    void append(std::string_view text) {
      each_chunk(text, [&](size_t begin, size_t end, bool simple) {
        if (!simple) return append_words(text, begin, end);
        for (size_t at = begin, next; at < end; at = next) {
          next = simple_word_end(text, at, end);
          if (class_of_byte(text[at]) == ByteClass::kSign) {
            ids_.push_back(tokenizer_.signs_[static_cast<uint8_t>(text[at])]);
          } else {
            append_words(text, at, next);
          }
        }
      });
    }

   private:
    void append_words(std::string_view text, size_t begin, size_t end) {
      if (end - begin > PieceCache::kLongestPiece) {
        cut(text.substr(begin, end - begin));
        return append_found();
      }
      const PieceCache::Key key = PieceCache::key_of(text, begin, end - begin);
      PieceCache::Entry& entry = cache_->place_of(key);
      if (entry.key != key) {
        cut(text.substr(begin, end - begin));
        if (found_.size() > PieceCache::kMostIds) return append_found();
        entry.key = key;
        entry.ids.fill(-1);
        std::transform(found_.begin(), found_.end(), entry.ids.begin(),
                       [](const Piece& piece) { return piece.id; });
      }
      for (size_t i = 0; i < PieceCache::kMostIds && entry.ids[i] >= 0; ++i) ids_.push_back(entry.ids[i]);
    }

    void cut(std::string_view chunk) {
      found_.clear();
      each_word(normalizer_.normalize(chunk), [&](auto word) { tokenizer_.cut(word, found_); });
    }

    void append_found() {
      for (const Piece& piece : found_) ids_.push_back(piece.id);
    }

    const WordPieceTokenizer& tokenizer_;
    std::vector<int32_t>& ids_;
    const PieceCaches::Borrowed cache_;
    BertNormalizer normalizer_;
    std::vector<Piece> found_;
  };

  WordPieceVocabulary vocabulary_;
  AddedTokenFinder special_;
  PieceTrie pieces_;
  PieceTrie::Node inside_;  // where pieces inside a word begin
  int32_t unknown_ = -1;
  std::array<int32_t, 128> signs_;  // ids of words of one ASCII sign
  PieceCaches caches_;
};

std::unique_ptr<Tokenizer> learn(const TokenizerSpec& spec, const TextSource& text) {
  refuse_newline(spec);
  BertWordSettings words;
  words.lower_case = words.strip_accents = !spec.cased;
  return make_wordpiece_tokenizer(learn_wordpiece(spec.vocabulary, words, text));
}

std::unique_ptr<Tokenizer> read(const Json& json) {
  return is_wordpiece_json(json) ? make_wordpiece_tokenizer(wordpiece_from_json(json)) : nullptr;
}

}  // namespace

std::unique_ptr<Tokenizer> make_wordpiece_tokenizer(WordPieceVocabulary vocabulary) {
  return std::make_unique<WordPieceTokenizer>(std::move(vocabulary));
}

TokenizerEntry wordpiece_tokenizer() {
  return {.name = WordPieceTokenizer::kKind,
          .meaning = "BERT's word pieces, learned to a size or read from a file",
          .learn = learn,
          .read = read,
          .usual_size = kUsualWordPieces,
          .has_cases = true};
}

}  // namespace heed::data
