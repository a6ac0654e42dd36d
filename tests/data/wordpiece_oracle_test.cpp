// WordPiece against Hugging Face's tokenizers in JavaScript, which @huggingface/transformers is made of, run
// by node. They are installed into the build folder. What heed writes is what they read here.
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "heed/data/bert_words.h"
#include "heed/data/utf8.h"
#include "heed/data/wordpiece_files.h"
#include "heed/data/wordpiece_tokenizer.h"
#include "heed/data/wordpiece_training.h"
#include "tests/data/support.h"
#include "tests/support/bert_words.h"
#include "tests/support/npm.h"
#include "tests/support/random_text.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

// Not compared: what a newer Unicode may know otherwise, and Chinese characters beyond U+FFFF, which the
// other program overlooks since it walks halves of them.
bool comparable(int32_t c) {
  constexpr int32_t kAhomVowelSignAa = 0x1171E;  // Mn until Unicode 15, Mc from 16 on
  return (c < 0xD800 || c >= 0xE000) && (c < 0x20000 || c >= 0x40000) && c != kAhomVowelSignAa &&
         utf8proc_category(c) != UTF8PROC_CATEGORY_CN;
}

// By what they do to the characters around them.
struct Pools {
  std::vector<int32_t> any, marks, capitals, signs;
  Pools() {
    for (int32_t c = 0; c <= 0x10FFFF; ++c) {
      const auto category = utf8proc_category(c);
      if (!comparable(c) || category == UTF8PROC_CATEGORY_CO) continue;
      any.push_back(c);
      if (utf8proc_get_property(c)->combining_class > 0) marks.push_back(c);
      if (category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LT) capitals.push_back(c);
      if (category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK ||
          category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_PO)
        signs.push_back(c);
    }
  }
};

std::string hard_text(Rng& rng, const Pools& pools) {
  static const Words parts = {
      "a",      "b",        "ing",    "The",  " ",    " ",      "\n",     "'",          ".",       ":",
      "Σ",      "ΑΣ",       "σ",      "İ",    "I",    "ı",      "ß",      "é",          "e\u0301", "각",
      "\u1100", "\u1161",   "字",     "。",   "ﬁ",    "Ǆ",      "ʰ",      "\u00ad",     "\u200d",  "\ufeff",
      "\u0085", "\u2028",   "\u00a0", "\x01", "\x7f", "\ufffd", "[MASK]", "[UNK]",      "[",       "##",
      "😀",      "👩\u200d🚀", "א",      "ع",    "ἀ",    "ᾳ",      "\u302e", "\U0001d165", "\u0345",  "\u034f",
      "\u212b", "\ue000",   "\u0f73", "Ⅷ",    "ⓐ",    "ª",      "\t",     "\r"};
  const auto one_of = [&](const auto& list) {
    return list[static_cast<size_t>(rng.below(std::ssize(list)))];
  };
  std::string text;
  for (int64_t length = 1 + rng.below(12); length > 0; --length) {
    switch (rng.below(7)) {
      case 0:
        append_utf8(one_of(pools.any), text);
        break;
      case 1:
        append_utf8(one_of(pools.marks), text);
        break;
      case 2:
        append_utf8(one_of(rng.below(2) ? pools.capitals : pools.signs), text);
        break;
      default:
        text += one_of(parts);
    }
  }
  return text;
}

class Question {
 public:
  // Returns the file's number.
  size_t add_file(WordPieceVocabulary vocabulary) {
    json_["files"].push_back(wordpiece_to_json(vocabulary));
    vocabularies_.push_back(std::move(vocabulary));
    return vocabularies_.size() - 1;
  }
  void add_case(size_t file, const std::string& text, bool words) {
    Json& one = json_["cases"].emplace_back();
    one["file"] = file;
    one["text"] = text;
    if (words) one["words"] = true;
  }

  // Two texts, with what the file says stands around them.
  void add_pair(size_t file, const std::string& text, const std::string& second) {
    add_case(file, text, false);
    json_["cases"].back()["pair"] = second;
  }

  void compare(const fs::path& folder) const {
    const fs::path question = folder / "wordpiece-question.json", answer = folder / "wordpiece-answer.json";
    std::ofstream(question) << json_;
    const auto ran =
        test::output_of("node '" HEED_SOURCE_DIR "/tests/oracle/wordpiece.mjs' '" + folder.string() + "' '" +
                        question.string() + "' '" + answer.string() + "' 2>&1");
    ASSERT_TRUE(ran) << "tests/oracle/wordpiece.mjs failed";
    const Json answers = Json::parse(MappedFile(answer).text());
    ASSERT_EQ(answers["cases"].size(), json_["cases"].size());
    std::vector<std::unique_ptr<Tokenizer>> tokenizers;
    for (const WordPieceVocabulary& vocabulary : vocabularies_)
      tokenizers.push_back(make_wordpiece_tokenizer(vocabulary));
    for (size_t i = 0; i < answers["cases"].size(); ++i) {
      const Json& one = answers["cases"][i];
      const std::string text = one["text"];
      const size_t file = one["file"];
      if (one.contains("words")) {
        const Words theirs = one["words"], ours = test::bert_words_of(text, vocabularies_[file].words);
        const auto [a, b] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
        ASSERT_TRUE(ours == theirs) << "file " << file << ": " << (a == ours.end() ? "(end)" : *a)
                                    << " instead of " << (b == theirs.end() ? "(end)" : *b) << " in "
                                    << Json(text.substr(0, 300));
      }
      Ids ids;
      std::vector<TokenSpan> spans;
      tokenizers[file]->encode_with_spans(text, ids, spans);
      ASSERT_TRUE(one["ids"].get<Ids>() == ids) << "file " << file << ": " << Json(text.substr(0, 300));
      ASSERT_TRUE(encoded(*tokenizers[file], text) == ids) << Json(text.substr(0, 300));
      if (one.contains("pair")) {
        const Ids second = encoded(*tokenizers[file], json_["cases"][i]["pair"].get<std::string>());
        Ids both = {2, 3}, types(ids.size() + 2, 0);
        both.insert(both.begin() + 1, ids.begin(), ids.end());
        both.insert(both.end(), second.begin(), second.end());
        both.push_back(3);
        types.resize(both.size(), 1);
        EXPECT_EQ(one["pair"]["ids"].get<Ids>(), both);
        EXPECT_EQ(one["pair"]["types"].get<Ids>(), types);
      }
    }
    fs::remove(question);
    fs::remove(answer);
  }

 private:
  Json json_ = {{"files", Json::array()}, {"cases", Json::array()}};
  std::vector<WordPieceVocabulary> vocabularies_;
};

TEST(WordPieceOracle, OthersGiveTheSame) {
  const fs::path folder = fs::path(HEED_BINARY_DIR) / "npm";
  const std::string reason = test::install_npm(folder, {{"@huggingface/tokenizers", "0.2.0"}});
  if (!reason.empty()) {
    std::cerr << "SKIPPED: WordPiece was not held against another program: " << reason << "\n";
    GTEST_SKIP() << reason;
  }
  const Pools pools;
  Rng rng(1);
  std::string sample;
  for (int i = 0; i < 2000; ++i) sample += hard_text(rng, pools) + " ";

  Question question;
  for (unsigned settings = 0; settings < 16; ++settings) {
    const auto on = [&](unsigned bit) { return (settings & bit) != 0; };
    const size_t file = question.add_file(
        learn_wordpiece(0, {on(1), on(2), on(4), on(8)}, [&](const auto& take) { take(sample); }));
    for (int i = 0; i < 300; ++i) question.add_case(file, hard_text(rng, pools), true);
    question.add_pair(file, "The first text,", "and the ΣΑΣ after it.");
    if (settings != 15 && settings != 3 && settings != 7) continue;
    std::string all;  // every character, alone and in a word
    for (int32_t c = 0; c <= 0x10FFFF; ++c) {
      if (!comparable(c) || (c > 0xF0100 && c < 0x10FF00)) continue;
      for (const char* before : {" ", " a"}) append_utf8(c, all += before);
      all += 'b';
      if (all.size() < 100'000) continue;
      question.add_case(file, all, true);
      all.clear();
    }
    question.add_case(file, all, true);
  }

  if (const auto vocabulary = test::test_data("tokenizers/bert-base-uncased-vocab.txt")) {
    const size_t bert = question.add_file(wordpiece_from_lines(*vocabulary, Json()));
    for (int i = 0; i < 2000; ++i) question.add_case(bert, hard_text(rng, pools), false);
    for (const char* name :
         {"wikitext-2/wiki.test.raw", "wikitext-2/valid.txt", "enwik8-4M", "tinyshakespeare.txt",
          "text8-5800K", "lm1b-news.en.heldout-00000-of-00050", "squad-v1.1/dev-v1.1.json", "SST-2/train.tsv",
          "MRPC/train.tsv", "iwslt14-de-en/valid.en", "iwslt14-de-en/valid.de", "zeroshot/BoolQ/val.jsonl"}) {
      const auto text = test::test_data(name);
      if (text) question.add_case(bert, text->substr(0, text->find(' ', 600'000)), false);
    }
  }
  question.compare(folder);
}

}  // namespace
}  // namespace heed::data
