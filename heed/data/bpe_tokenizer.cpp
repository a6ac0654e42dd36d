#include "heed/data/bpe_tokenizer.h"

#include <algorithm>
#include <array>

#include "heed/data/bpe_files.h"
#include "heed/data/bpe_training.h"
#include "heed/data/piece_cache.h"
#include "heed/data/pretokenize.h"
#include "heed/data/tokenizer_json.h"

namespace heed::data {
namespace {

class BpeTokenizer : public Tokenizer {
 public:
  static constexpr const char* kKind = "bpe";

  explicit BpeTokenizer(BpeVocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
    byte_ids_.fill(-1);
    // Added tokens go first: if one is the text of a byte, the byte's own token still encodes that byte.
    for (const AddedToken& token : vocabulary_.added) {
      set_byte(token.id);
      if (token.content == BpeVocabulary::kEndOfText) end_ = token.id;
    }
    auto added = vocabulary_.added.begin();
    for (int32_t id = 0; id < static_cast<int32_t>(vocabulary_.tokens.size()); ++id) {
      if (added != vocabulary_.added.end() && added->id == id) {
        ++added;
      } else {
        set_byte(id);
      }
    }
  }

  std::string_view kind() const override { return kKind; }
  int64_t size() const override { return static_cast<int64_t>(vocabulary_.tokens.size()); }
  int32_t end() const override { return end_; }
  Json to_json() const override { return bpe_to_json(vocabulary_); }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    const PieceCaches::Borrowed cache = caches_.borrow();
    std::vector<int32_t> piece;
    for (size_t begin = 0, end; begin < text.size(); begin = end) {
      end = pretoken_end(text, begin);
      if (end - begin > PieceCache::kLongestPiece) {
        encode_piece(text.substr(begin, end - begin), piece);
        ids.insert(ids.end(), piece.begin(), piece.end());
        continue;
      }
      const PieceCache::Key key = PieceCache::key_of(text, begin, end - begin);
      PieceCache::Entry& entry = cache->place_of(key);
      if (entry.key != key) {
        encode_piece(text.substr(begin, end - begin), piece);
        if (piece.size() > PieceCache::kMostIds) {
          ids.insert(ids.end(), piece.begin(), piece.end());
          continue;
        }
        entry.key = key;
        entry.ids.fill(-1);
        std::copy(piece.begin(), piece.end(), entry.ids.begin());
      }
      for (size_t i = 0; i < PieceCache::kMostIds && entry.ids[i] >= 0; ++i) ids.push_back(entry.ids[i]);
    }
  }

  size_t cut_before(std::string_view text, size_t position) const override {
    return pretoken_cut_before(text, position);
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (int32_t id : ids) text += vocabulary_.tokens[index_of(id)];
    return text;
  }

 private:
  void set_byte(int32_t id) {
    const std::string& token = vocabulary_.tokens[static_cast<size_t>(id)];
    if (token.size() == 1) byte_ids_[static_cast<uint8_t>(token[0])] = id;
  }

  void encode_piece(std::string_view bytes, std::vector<int32_t>& ids) const {
    ids.resize(bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i) {
      ids[i] = byte_ids_[static_cast<uint8_t>(bytes[i])];
      if (ids[i] < 0)
        throw usage_error("bpe: the vocabulary has no token for the byte '", printable(bytes.substr(i, 1)),
                          "'; a byte-level vocabulary with all 256 bytes can encode any text");
    }
    vocabulary_.merges.apply(ids);
  }

  BpeVocabulary vocabulary_;
  std::array<int32_t, 256> byte_ids_;
  int32_t end_ = -1;
  PieceCaches caches_;
};

std::unique_ptr<Tokenizer> learn(const TokenizerSpec& spec, const TextSource& text) {
  refuse_newline(spec);
  return make_bpe_tokenizer(learn_bpe(spec.vocabulary, text));
}

std::unique_ptr<Tokenizer> read(const Json& json) {
  return is_bpe_json(json) ? make_bpe_tokenizer(bpe_from_json(json)) : nullptr;
}

}  // namespace

std::unique_ptr<Tokenizer> make_bpe_tokenizer(BpeVocabulary vocabulary) {
  return std::make_unique<BpeTokenizer>(std::move(vocabulary));
}

TokenizerEntry bpe_tokenizer() {
  return {.name = BpeTokenizer::kKind,
          .meaning = "GPT-2's byte-level byte-pair encoding, learned to a size or read from a file",
          .learn = learn,
          .read = read,
          .usual_size = kUsualVocabulary,
          .bytes = 2 << 20,  // the cache of pieces
          .bytes_per_token = 300};
}

}  // namespace heed::data
