#include "heed/data/word_tokenizer.h"

#include <algorithm>

#include "heed/data/string_table.h"
#include "heed/data/tokenizer_json.h"
#include "heed/data/utf8.h"

namespace heed::data {
namespace {

constexpr int64_t kBytesPerWord = 100;

// The differences between "words" and "lm1b".
struct Convention {
  const char* kind;
  const char* end;        // closes every line, id 0
  const char* unknown;    // replaces words that are not in the vocabulary
  bool opens_lines;       // the end symbol opens a line as well, and lines without words do not count
  bool always_unknown;    // the vocabulary always has `unknown`, as id 1
  int64_t minimum_count;  // of a word
};
constexpr Convention kWords = {"words", "<eos>", "<unk>", false, false, 1};
constexpr Convention kLm1b = {"lm1b", "<S>", "<UNK>", true, true, 3};

bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The bytes of the white space at `at`, 0 if there is none there: Unicode's, and the separators U+001C to
// U+001F, as str.split() of Python has it.
size_t space_at(std::string_view text, size_t at) {
  const char c = text[at];
  if (is_ascii_space(c) || (c >= 0x1C && c <= 0x1F)) return 1;
  if (static_cast<unsigned char>(c) < 0xC2) return 0;  // ASCII, or inside a character
  const auto [code_point, length] = utf8_at(text, at);
  switch (code_point) {
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return length;
    default:
      return code_point >= 0x2000 && code_point <= 0x200A ? length : 0;
  }
}

// The bytes of the line end at `at`, 0 if there is none there. Python reads all three so.
size_t line_end_at(std::string_view text, size_t at) {
  if (text[at] == '\n') return 1;
  if (text[at] != '\r') return 0;
  return at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
}

// Calls word(string_view) for each word of each line and line_end(number of words) after each line.
template <class Word, class LineEnd>
void walk(std::string_view text, Word&& word, LineEnd&& line_end) {
  int64_t words = 0;
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = line_end_at(text, at)) {
      line_end(words);
      words = 0;
      at += end;
    } else if (const size_t space = space_at(text, at)) {
      at += space;
    } else {
      const size_t begin = at;
      while (at < text.size() && !space_at(text, at)) ++at;
      word(text.substr(begin, at - begin));
      ++words;
    }
  }
  if (!text.empty() && !line_end_at(text, text.size() - 1)) line_end(words);
}

class WordTokenizer : public Tokenizer {
 public:
  // `words` by id; each once.
  WordTokenizer(const Convention& convention, StringTable words)
      : convention_(convention), words_(std::move(words)), unknown_(words_.find(convention.unknown)) {}

  std::string_view kind() const override { return convention_.kind; }
  bool lines_are_unrelated() const override { return convention_.opens_lines; }
  int64_t size() const override { return static_cast<int64_t>(words_.size()); }
  int32_t end() const override { return kEnd; }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    bool open = false;
    const auto word = [&](std::string_view found) {
      if (convention_.opens_lines && !open) ids.push_back(kEnd);
      open = true;
      const int64_t id = words_.find(found);
      if (id < 0 && unknown_ < 0)
        throw usage_error(convention_.kind, ": '", printable(found), "' is not in the vocabulary of ", size(),
                          " words, which has no ", convention_.unknown,
                          " for it; limit the vocabulary (--vocabulary), so that rarer words become ",
                          convention_.unknown, ", or learn it from all parts of the text");
      ids.push_back(static_cast<int32_t>(id < 0 ? unknown_ : id));
    };
    walk(text, word, [&](int64_t words) {
      if (words > 0 || !convention_.opens_lines) ids.push_back(kEnd);
      open = false;
    });
  }

  int64_t count_unknown(std::string_view text) const override {
    int64_t count = 0;
    walk(
        text, [&](std::string_view found) { count += words_.find(found) < 0; }, [](int64_t) {});
    return count;
  }

  size_t cut_before(std::string_view text, size_t position) const override {
    if (position >= text.size()) return text.size();
    const auto begins_line = [&](size_t at) {
      return text[at - 1] == '\n' || (text[at - 1] == '\r' && text[at] != '\n');
    };
    while (position > 0 && !begins_line(position)) --position;
    return position;
  }

  // Words with one space between them and a line end for each end symbol: encoding the result gives the same
  // ids.
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (int32_t id : ids) {
      const std::string_view word = words_[index_of(id)];
      const bool line_begins = text.empty() || text.back() == '\n';
      if (id != kEnd) {
        if (!line_begins) text += ' ';
        text += word;
      } else if (!convention_.opens_lines || !line_begins) {
        text += '\n';
      }
    }
    return text;
  }

  // WordLevel. Words that are not UTF-8 cannot be strings of JSON: they are listed as bytes.
  Json to_json() const override {
    JsonParts parts;
    parts.pre_tokenizer["type"] = "WhitespaceSplit";
    if (!convention_.opens_lines)
      parts.normalizer = replace_newline_part(std::string(" ") + convention_.end + " ");
    parts.model["type"] = "WordLevel";
    parts.model["unk_token"] = convention_.unknown;
    parts.model["heed"]["kind"] = convention_.kind;
    Json::object_t vocabulary;
    Json bytes = Json::object();
    for (size_t id = 0; id < words_.size(); ++id) {
      const std::string_view word = words_[id];
      if (is_utf8(word)) {
        vocabulary.emplace(word, id);
      } else {
        bytes[std::to_string(id)] = std::vector<uint8_t>(word.begin(), word.end());
      }
    }
    parts.model["vocab"] = std::move(vocabulary);
    parts.model["heed"]["bytes"] = std::move(bytes);
    return tokenizer_json(std::move(parts));
  }

 private:
  static constexpr int32_t kEnd = 0;
  const Convention& convention_;
  StringTable words_;
  int64_t unknown_;
};

struct Counted {
  std::string_view word;
  int64_t count;
};

template <const Convention& convention>
std::unique_ptr<Tokenizer> learn(const TokenizerSpec& spec, const TextSource& text) {
  refuse_newline(spec);
  constexpr int64_t kSmallest = 3;  // the end, the unknown, a word
  if (spec.vocabulary < 0 || (spec.vocabulary > 0 && spec.vocabulary < kSmallest))
    throw usage_error(convention.kind, ": a vocabulary of ", spec.vocabulary,
                      " was asked for; it needs at least ", kSmallest, ", or 0 for no limit");
  StringTable seen;
  std::vector<int64_t> counts;
  text([&](std::string_view piece) {
    walk(
        piece,
        [&](std::string_view word) {
          const size_t number = seen.add(word);
          if (number == counts.size()) counts.push_back(0);
          ++counts[number];
        },
        [](int64_t) {});
  });
  if (seen.size() == 0) throw usage_error(convention.kind, ": the text to learn from has no words");

  std::vector<Counted> words;  // in order of appearance, then by count
  const bool counts_unknown =
      spec.vocabulary > 0 || convention.always_unknown;  // else it is a word like any other
  Counted unknown = {convention.unknown, 0};
  for (size_t number = 0; number < seen.size(); ++number) {
    if (seen[number] == convention.end) continue;
    if (counts_unknown && seen[number] == convention.unknown) {
      unknown.count = counts[number];
    } else if (counts[number] >= convention.minimum_count) {
      words.push_back({seen[number], counts[number]});
    }
  }
  const auto more = [](const Counted& a, const Counted& b) { return a.count > b.count; };
  std::stable_sort(words.begin(), words.end(), more);
  if (spec.vocabulary > 0) {
    const size_t kept = std::min(words.size(), static_cast<size_t>(spec.vocabulary) - 2);
    for (size_t i = kept; i < words.size(); ++i) unknown.count += words[i].count;
    words.resize(kept);
  }
  StringTable vocabulary;
  vocabulary.add(convention.end);
  if (convention.always_unknown) {
    vocabulary.add(convention.unknown);
  } else if (counts_unknown) {
    words.insert(std::upper_bound(words.begin(), words.end(), unknown, more), unknown);
  }
  for (const Counted& entry : words) vocabulary.add(entry.word);
  return std::make_unique<WordTokenizer>(convention, std::move(vocabulary));
}

template <const Convention& convention>
std::unique_ptr<Tokenizer> read(const Json& json) {
  const Json* part = heed_part(json, convention.kind);
  if (!part) return nullptr;
  const Json& vocabulary = object_at(json["model"], "vocab");
  const Json& bytes = object_at(*part, "bytes");
  IdNames names(vocabulary.size() + bytes.size());
  for (const auto& [word, id] : vocabulary.items()) names.set(id, word);
  for (const auto& [id, values] : bytes.items()) {
    std::string word;
    if (!values.is_array()) throw usage_error("the bytes of word ", printable(id), " should be an array");
    for (const Json& value : values) {
      if (whole_number(value).value_or(256) > 255)
        throw usage_error("the bytes of word ", printable(id), " should be numbers from 0 to 255");
      word += static_cast<char>(value.get<uint64_t>());
    }
    names.set(Json::parse(id, nullptr, false), word);
  }
  StringTable words;
  for (const std::string& word : names.take()) {
    // Not all white space: vocabularies of earlier versions may have other than ASCII's.
    if (word.empty() || std::any_of(word.begin(), word.end(), is_ascii_space))
      throw usage_error("'", printable(word), "' is in the vocabulary, but is not a word");
    if (words.find(word) >= 0) throw usage_error("'", printable(word), "' is in the vocabulary twice");
    words.add(word);
  }
  if (words.find(convention.end) != 0) throw usage_error("'", convention.end, "' should have id 0");
  if (convention.always_unknown && words.find(convention.unknown) < 0)
    throw usage_error("'", convention.unknown, "' is missing from the vocabulary");
  return std::make_unique<WordTokenizer>(convention, std::move(words));
}

}  // namespace

TokenizerEntry word_tokenizer() {
  return {.name = kWords.kind,
          .meaning = "words between white space, <eos> after each line, as for WikiText",
          .learn = learn<kWords>,
          .read = read<kWords>,
          .bytes_per_token = kBytesPerWord};
}

TokenizerEntry lm1b_tokenizer() {
  return {.name = kLm1b.kind,
          .meaning = "words, <S> around each sentence, as for the One Billion Word Benchmark",
          .learn = learn<kLm1b>,
          .read = read<kLm1b>,
          .bytes_per_token = kBytesPerWord};
}

}  // namespace heed::data
