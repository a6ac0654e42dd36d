// GPT-2's tokenizer against others' programs, run by node: OpenAI's vocabulary and splitter as the npm
// package gpt-tokenizer has them, and Hugging Face's reader of tokenizer.json. They are installed into the
// build folder.
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <unordered_map>

#include "heed/base/files.h"
#include "heed/data/bpe_files.h"
#include "heed/data/bpe_tokenizer.h"
#include "heed/data/byte_level.h"
#include "heed/data/pretokenize.h"
#include "tests/data/support.h"
#include "tests/support/npm.h"
#include "tests/support/random_text.h"
#include "tests/support/test_data.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

std::vector<std::string> hard_texts() {
  std::vector<std::string> texts = {
      "",
      "Hello, world!",
      "I'm you're he'd we'll it's I've can't 'S 'LL 'sup ''s",
      "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ☕️ 🇩🇪",
      "cafe\u0301 nai\u0308ve Z\u0351\u036f\u0324a\u0300\u0301lgo",
      "今日はいい天気ですね。明日は雨、かも？ 中文，标点。한국어 띄어쓰기 테스트.",
      "שלום עולם! مرحبا بالعالم ١٢٣ ۴۵۶",
      "a\u00a0b\u2003c\u2009\u2009d\u3000\u3000e\u202ff\u205fg\u1680h\u2028i\u2029j",
      "١٢٣ 一二三 ½¾ Ⅷ ① ๑๒๓ 𝟙𝟚𝟛 ²³",
      "a  b   c\n\n\nd \n e\t\tf\r\n\r\ng   ",
      "   \n\t  ",
      "\x01\x02\x1f\x7f\u0080\u009f \u200b\u200d\ufe0f\u00ad",
      "<|endoftext|> <|endoftext|>x",
      "नमस्ते दुनिया ไทย ភាសា ქართული Ελληνικά Русский ʰˑː",
      "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁 \U000e0041 \U0010ffff \ufffd \ue000",
      "if (x<=3){return\"a_b\";}//  ---===!!!",
      std::string(3000, 'a') + std::string(300, ' ') + std::string(500, '='),
      "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
  };
  for (uint64_t seed = 0; seed < 300; ++seed) {  // whole characters only: JavaScript has no others
    Rng rng(seed);
    std::string text;
    for (int64_t i = rng.below(60); i > 0; --i) {
      const int64_t limit =
          std::array<int64_t, 4>{0x80, 0x800, 0xD800, 0x20000}[static_cast<size_t>(rng.below(4))];
      const auto code_point = static_cast<int32_t>(rng.below(limit));
      // JavaScript's white space is not Unicode's at these two, and below the texts go through its \s.
      if (code_point == 0x85 || code_point == 0xFEFF || (code_point >= 0xD800 && code_point < 0xE000))
        continue;
      if (utf8proc_category(code_point) == UTF8PROC_CATEGORY_CN) continue;  // a newer Unicode may know it
      uint8_t bytes[4];
      text.append(reinterpret_cast<char*>(bytes),
                  static_cast<size_t>(utf8proc_encode_char(code_point, bytes)));
      if (rng.below(4) == 0) text += " ";
    }
    texts.push_back(text);
  }
  for (const char* name : {"wikitext-2/wiki.test.raw", "enwik8-4M", "tinyshakespeare.txt", "text8-5800K"}) {
    if (const auto text = test::test_data(name)) {
      const size_t cut = pretoken_cut_before(*text, 250000);
      texts.push_back(text->substr(0, cut));
    }
  }
  return texts;
}

std::string from_base64(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

// Ranks of tokens instead of merges of pairs: the merge behind a token is what its bytes come to with the
// ranks below.
std::unique_ptr<Tokenizer> from_ranks(const Json& ranks) {
  std::unordered_map<std::string, int> rank_of;
  std::vector<std::string> tokens(ranks.size());
  for (const Json& entry : ranks) {
    const int rank = std::stoi(entry[1].get<std::string>());
    tokens.at(static_cast<size_t>(rank)) = from_base64(entry[0]);
    rank_of[tokens[static_cast<size_t>(rank)]] = rank;
  }
  Json encoder;
  std::string merges = "#version: 0.2\n";
  for (int rank = 0; rank < static_cast<int>(tokens.size()); ++rank) {
    const std::string& token = tokens[static_cast<size_t>(rank)];
    encoder[to_byte_level(token)] = rank;
    std::vector<std::string> parts;
    for (char byte : token) parts.emplace_back(1, byte);
    while (parts.size() > 2) {
      size_t best = 0;
      int lowest = rank;
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto found = rank_of.find(parts[i] + parts[i + 1]);
        if (found != rank_of.end() && found->second < lowest) best = i, lowest = found->second;
      }
      EXPECT_LT(lowest, rank);
      if (lowest == rank) break;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    if (parts.size() == 2) merges += to_byte_level(parts[0]) + " " + to_byte_level(parts[1]) + "\n";
  }
  encoder[BpeVocabulary::kEndOfText] = tokens.size();
  return make_bpe_tokenizer(bpe_from_gpt2_files(encoder, merges));
}

char class_of(int32_t code_point) {
  uint8_t bytes[4];
  const std::string c(reinterpret_cast<char*>(bytes),
                      static_cast<size_t>(utf8proc_encode_char(code_point, bytes)));
  const auto joins = [&](const std::string& before) { return pretoken_end(before + c, 0) > before.size(); };
  return joins("a") ? 'L' : joins("1") ? 'N' : joins("\t") ? 'S' : 'O';
}

TEST(BpeOracle, OthersGiveTheSame) {
  const fs::path folder = fs::path(HEED_BINARY_DIR) / "npm";
  const std::string reason =
      test::install_npm(folder, {{"gpt-tokenizer", "4.0.0"}, {"@huggingface/tokenizers", "0.2.0"}});
  if (!reason.empty()) {
    std::cerr << "SKIPPED: the byte-pair encoding was not held against other programs: " << reason << "\n";
    GTEST_SKIP() << reason;
  }
  // What heed writes is read by Hugging Face's program, each kind with a text that it can say.
  const std::string sample = "the cat sat on the mat\n\nthe hat on the cat <unk>\n";
  Json question = {{"texts", hard_texts()}, {"files", Json::array()}, {"file_texts", Json::array()}};
  std::vector<std::unique_ptr<Tokenizer>> written;
  for (const auto& [kind, newline, text] :
       std::vector<std::array<std::string, 3>>{{"bytes", "keep", "any text, ünï🙂\n"},
                                               {"characters", "keep", sample},
                                               {"characters", "drop", sample},
                                               {"characters", "eos", sample},
                                               {"words", "keep", sample},
                                               {"bpe", "keep", "the cat's hat, ünï🙂\n\n  on 12 mats"}}) {
    TokenizerSpec spec;
    spec.kind = kind;
    spec.newline = newline;
    if (kind == "bpe") spec.vocabulary = 262;
    written.push_back(learn_tokenizer(spec, [&](const auto& take) { take(sample); }));
    question["files"].push_back(written.back()->to_json());
    question["file_texts"].push_back({text});
  }
  std::ofstream(folder / "question.json") << question;
  const auto ran = test::output_of("node '" HEED_SOURCE_DIR "/tests/oracle/bpe.mjs' '" + folder.string() +
                                   "' '" + (folder / "question.json").string() + "' '" +
                                   (folder / "answer.json").string() + "' 2>&1");
  ASSERT_TRUE(ran) << "tests/oracle/bpe.mjs failed";
  const Json answer = Json::parse(MappedFile(folder / "answer.json").text());

  for (size_t i = 0; i < written.size(); ++i) {
    const std::string text = question["file_texts"][i][0];
    EXPECT_EQ(answer["file_ids"][i][0].get<Ids>(), encoded(*written[i], text))
        << "file " << i << ", " << written[i]->kind();
  }

  const auto gpt2 = from_ranks(answer["ranks"]);
  ASSERT_EQ(gpt2->size(), 50257);
  for (size_t i = 0; i < question["texts"].size(); ++i) {
    const std::string text = question["texts"][i];
    std::vector<std::string> pieces;
    for (size_t at = 0, end; at < text.size(); at = end) {
      end = pretoken_end(text, at);
      pieces.push_back(text.substr(at, end - at));
    }
    ASSERT_TRUE(answer["pieces"][i].get<std::vector<std::string>>() == pieces)
        << i << ": " << text.substr(0, 300);
    ASSERT_TRUE(answer["ids"][i].get<Ids>() == encoded(*gpt2, text)) << i << ": " << text.substr(0, 300);
  }

  const auto encoder = test::test_data("tokenizers/gpt2-encoder.json"),
             merges = test::test_data("tokenizers/gpt2-vocab.bpe");
  if (encoder && merges) {
    const auto original = make_bpe_tokenizer(bpe_from_gpt2_files(Json::parse(*encoder), *merges));
    EXPECT_TRUE(original->to_json() == gpt2->to_json());
  }

  // Of every code point that this Unicode version knows; the planes from the fourth on have no letters.
  const std::string classes = answer["classes"];
  ASSERT_EQ(classes.size(), 0x40000u);
  for (int32_t c = 0; c < 0x40000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const char ours = class_of(c), theirs = classes[static_cast<size_t>(c)];
    if (ours == theirs) continue;
    ASSERT_EQ(utf8proc_category(c), UTF8PROC_CATEGORY_CN) << std::hex << c << ": " << ours << theirs;
  }
}

}  // namespace
}  // namespace heed::data
