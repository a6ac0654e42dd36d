#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "heed/data/bpe_files.h"
#include "heed/data/bpe_tokenizer.h"
#include "heed/data/bpe_training.h"
#include "heed/data/byte_level.h"
#include "heed/data/pretokenize.h"
#include "tests/data/support.h"
#include "tests/support/messages.h"
#include "tests/support/random_text.h"
#include "tests/support/test_data.h"

namespace heed::data {
namespace {

using Ids = std::vector<int32_t>;

TextSource pieces(std::vector<std::string> texts) {
  return [texts](const auto& take) {
    for (const std::string& text : texts) take(text);
  };
}

// a 0, b 1, c 2, the space 3, ab 4, " ab" 5, "abc" 6, <|endoftext|> 7
Json small_file() {
  return Json::parse(R"({
    "version": "1.0",
    "added_tokens": [{"id": 7, "content": "<|endoftext|>", "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
    "post_processor": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false},
    "decoder": {"type": "ByteLevel"},
    "model": {
      "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "", "end_of_word_suffix": "",
      "fuse_unk": false,
      "vocab": {"a": 0, "b": 1, "c": 2, "Ġ": 3, "ab": 4, "Ġab": 5, "abc": 6, "<|endoftext|>": 7},
      "merges": ["a b", "Ġ ab", "ab c"]
    }})");
}

TEST(Bpe, MergesByRank) {
  const auto tokenizer = make_bpe_tokenizer(bpe_from_json(small_file()));
  EXPECT_EQ(tokenizer->size(), 8);
  EXPECT_EQ(tokenizer->end(), 7);
  EXPECT_EQ(encoded(*tokenizer, "abc abc aab"), (Ids{6, 5, 2, 3, 0, 4}));
  EXPECT_EQ(tokenizer->decode(Ids{5, 7, 2}), " ab<|endoftext|>c");
  EXPECT_NE(test::message_of([&] { encoded(*tokenizer, "abx"); }).find("no token for the byte 'x'"),
            std::string::npos);
}

TEST(Bpe, MergesMayBePairs) {
  Json file = small_file();
  file["model"]["merges"] = Json::parse(R"([["a", "b"], ["Ġ", "ab"], ["ab", "c"]])");
  EXPECT_EQ(bpe_to_json(bpe_from_json(file)), bpe_to_json(bpe_from_json(small_file())));
}

TEST(Bpe, AddedTokensMayLieBeyondTheVocabulary) {
  Json file = small_file();
  file["model"]["vocab"].erase("<|endoftext|>");
  file["added_tokens"].push_back({{"id", 8}, {"content", "a \n"}, {"special", false}});
  const auto tokenizer = make_bpe_tokenizer(bpe_from_json(file));
  EXPECT_EQ(tokenizer->size(), 9);
  EXPECT_EQ(tokenizer->end(), 7);
  EXPECT_EQ(tokenizer->decode(Ids{8}), "a \n");
  EXPECT_EQ(encoded(*tokenizer, "a "), (Ids{0, 3}));
  EXPECT_EQ(make_bpe_tokenizer(bpe_from_json(tokenizer->to_json()))->to_json(), tokenizer->to_json());
}

TEST(Bpe, GivenAsGpt2sTwoFiles) {
  const auto folder = std::filesystem::temp_directory_path() / ("heed-bpe-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "encoder.json") << small_file()["model"]["vocab"];
  std::ofstream(folder / "vocab.bpe") << "#version: 0.2\na b\nĠ ab\nab c\n";
  const auto tokenizer = load_tokenizer(folder);
  EXPECT_EQ(tokenizer->to_json(), bpe_to_json(bpe_from_json(small_file())));
  std::ofstream(folder / "vocab.bpe") << "#version: 0.2\na b\nĠ ab\nab";  // cut off
  EXPECT_NE(test::message_of([&] { load_tokenizer(folder); }).find("two tokens with one space"),
            std::string::npos);
  std::ofstream(folder / "encoder.json") << "[]";
  EXPECT_NE(test::message_of([&] { load_tokenizer(folder); }).find("found array"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Bpe, FilesThatAreNotGpt2sWayAreRefused) {
  const std::vector<std::pair<std::string, std::string>> patches = {
      {R"([{"op":"remove","path":"/model/vocab"}])", "'vocab' is missing"},
      {R"([{"op":"remove","path":"/model/merges"}])", "'merges' is missing"},
      {R"([{"op":"remove","path":"/pre_tokenizer"}])", "'pre_tokenizer' is missing"},
      {R"([{"op":"replace","path":"/model/vocab","value":7}])", "'vocab' should be an object"},
      {R"([{"op":"replace","path":"/model/merges","value":{}}])", "'merges' should be an array"},
      {R"([{"op":"replace","path":"/model/vocab/b","value":0}])", "both have id 0"},
      {R"([{"op":"replace","path":"/model/vocab/b","value":8}])", "'b' has id 8"},
      {R"([{"op":"replace","path":"/model/vocab/b","value":4000000000}])", "4000000000"},
      {R"([{"op":"replace","path":"/model/vocab/b","value":-1}])", "found number -1"},
      {R"([{"op":"remove","path":"/model/vocab/c"}])", "has id 7, but there are 7 tokens"},
      {R"([{"op":"add","path":"/model/vocab/字","value":8}])", "not written in GPT-2's alphabet"},
      {R"([{"op":"add","path":"/model/vocab/x y","value":8}])", "not written in GPT-2's alphabet"},
      {R"([{"op":"replace","path":"/model/merges/0","value":"a z"}])", "needs the token 'az'"},
      {R"([{"op":"replace","path":"/model/merges/0","value":"ab"}])", "found 'ab'"},
      {R"([{"op":"replace","path":"/model/merges/0","value":"a b c"}])", "found 'a b c'"},
      {R"([{"op":"replace","path":"/model/merges/0","value":["a"]}])", "found array"},
      {R"([{"op":"replace","path":"/model/merges/0","value":["a",1]}])", "found array"},
      {R"([{"op":"replace","path":"/model/merges/1","value":"a b"}])", "appears twice"},
      {R"([{"op":"replace","path":"/added_tokens","value":7}])", "'added_tokens' should be an array"},
      {R"([{"op":"replace","path":"/added_tokens/0","value":7}])", "'content' is missing"},
      {R"([{"op":"replace","path":"/added_tokens/0/id","value":6}])", "as an added token, but another"},
      {R"([{"op":"replace","path":"/added_tokens/0/id","value":9999999999}])", "has no valid id"},
      {R"([{"op":"remove","path":"/added_tokens/0/id"}])", "has no valid id"},
      {R"([{"op":"copy","from":"/added_tokens/0","path":"/added_tokens/1"}])",
       "appears twice among the added tokens"},
      {R"([{"op":"replace","path":"/normalizer","value":{"type":"NFC"}}])",
       "'normalizer' differs from GPT-2"},
      {R"([{"op":"replace","path":"/pre_tokenizer/type","value":"Metaspace"}])",
       "'pre_tokenizer' is Metaspace"},
      {R"([{"op":"replace","path":"/pre_tokenizer/add_prefix_space","value":true}])", "'add_prefix_space'"},
      {R"([{"op":"add","path":"/pre_tokenizer/use_regex","value":false}])", "'use_regex'"},
      {R"([{"op":"replace","path":"/model/end_of_word_suffix","value":"</w>"}])", "'end_of_word_suffix'"},
      {R"([{"op":"add","path":"/model/byte_fallback","value":true}])", "'byte_fallback'"},
      {R"([{"op":"add","path":"/model/ignore_merges","value":true}])", "'ignore_merges'"},
  };
  for (const auto& [patch, complaint] : patches) {
    const Json file = small_file().patch(Json::parse(patch));
    const std::string message = test::message_of([&] { bpe_from_json(file); });
    EXPECT_NE(message.find(complaint), std::string::npos) << patch << "\n  " << message;
  }
}

// One merge at a time, leftmost pair of the lowest rank, over and over.
void plain_apply(const BpeMerges& merges, Ids& ids) {
  while (true) {
    size_t best = 0;
    int32_t rank = BpeMerges::kNone;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      if (merges.find(ids[i], ids[i + 1]).rank < rank) {
        best = i;
        rank = merges.find(ids[i], ids[i + 1]).rank;
      }
    }
    if (rank == BpeMerges::kNone) return;
    ids[best] = merges.find(ids[best], ids[best + 1]).id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

// Merges drawn at random, also such as no text would teach: in any order, several to one id.
TEST(BpeMerges, AgreeWithThePlainWay) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    BpeMerges merges;
    for (int i = 0; i < 60; ++i)
      merges.add(static_cast<int32_t>(rng.below(12)), static_cast<int32_t>(rng.below(12)),
                 static_cast<int32_t>(rng.below(12)));
    for (int64_t length : {0, 1, 2, 3, 33, 63, 64, 65, 66, 200}) {
      Ids ids;
      for (int64_t i = 0; i < length; ++i) ids.push_back(static_cast<int32_t>(rng.below(4)));
      Ids expected = ids;
      plain_apply(merges, expected);
      merges.apply(ids);
      ASSERT_EQ(ids, expected) << "seed " << seed << ", length " << length;
    }
  }
}

TEST(BpeMerges, LongPiecesTakeNoSquareOfTheirLength) {
  const auto tokenizer =
      make_bpe_tokenizer(learn_bpe(270, pieces({std::string(5000, 'a'), std::string(700, '-')})));
  for (char letter : {'a', '-'}) {
    const std::string text(1 << 18, letter);
    const auto begin = std::chrono::steady_clock::now();
    const Ids ids = encoded(*tokenizer, text);
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(20));  // the square takes minutes
    EXPECT_LT(ids.size(), text.size() / 20);
    EXPECT_EQ(tokenizer->decode(ids), text);
  }
}

// Counts all pairs of all pieces anew for every merge.
std::vector<std::pair<std::string, std::string>> plain_merges(const std::string& text, size_t count) {
  std::map<std::string, int> order;  // ids of tokens: bytes in GPT-2's order, then as they are made
  for (uint8_t byte : byte_level_order())
    order.emplace(std::string(1, static_cast<char>(byte)), order.size());
  std::vector<std::vector<std::string>> words;
  for (size_t at = 0, end; at < text.size(); at = end) {
    end = pretoken_end(text, at);
    words.emplace_back();
    for (size_t i = at; i < end; ++i) words.back().push_back(text.substr(i, 1));
  }
  std::vector<std::pair<std::string, std::string>> merges;
  while (merges.size() < count) {
    std::map<std::pair<int, int>, int64_t> counts;
    std::map<std::pair<int, int>, std::pair<std::string, std::string>> names;
    for (const auto& word : words) {
      for (size_t i = 0; i + 1 < word.size(); ++i) {
        const std::pair<int, int> pair(order.at(word[i]), order.at(word[i + 1]));
        ++counts[pair];
        names[pair] = {word[i], word[i + 1]};
      }
    }
    // max_element takes the first of equals, which is the one with the smallest ids.
    const auto best = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < 2) break;
    const auto [left, right] = names[best->first];
    order.emplace(left + right, order.size());
    merges.emplace_back(left, right);
    for (auto& word : words) {
      for (size_t i = 0; i + 1 < word.size(); ++i) {
        if (word[i] == left && word[i + 1] == right) {
          word[i] += right;
          word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
      }
    }
  }
  return merges;
}

TEST(BpeTraining, AgreesWithThePlainWay) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng(seed, 5);
    std::string text;
    if (seed < 8) {  // few letters: many ties and runs
      for (int i = 0; i < 1000; ++i) text += "aaabbc dd\n"[rng.below(seed % 2 ? 10 : 8)];
    } else {
      text = test::random_text(rng, 1000);
    }
    const auto expected = plain_merges(text, 60);
    BpeVocabulary learned;
    try {
      learned = learn_bpe(256 + 60 + 1, pieces({text}));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    std::vector<std::pair<std::string, std::string>> merges;
    for (const BpeMerges::Entry& entry : learned.merges.entries())
      merges.emplace_back(learned.tokens[static_cast<size_t>(entry.left)],
                          learned.tokens[static_cast<size_t>(entry.right)]);
    EXPECT_EQ(merges, expected) << "seed " << seed;
    EXPECT_EQ(learned.tokens.size(), 317u);
  }
}

TEST(BpeTraining, HandCase) {
  // " low" comes three times, "est" twice. Among equals "l" has the smallest id; the space has a higher one
  // than all letters, but a smaller one than "lo".
  const BpeVocabulary learned = learn_bpe(262, pieces({" low low lowest", "est"}));
  const std::vector<std::string> made(learned.tokens.begin() + 256, learned.tokens.end());
  EXPECT_EQ(made, (std::vector<std::string>{"lo", " lo", " low", "es", "est", "<|endoftext|>"}));
}

TEST(BpeTraining, SizesThatCannotBe) {
  for (int64_t size : {-1, 1, 256})
    EXPECT_NE(test::message_of([&] { learn_bpe(size, pieces({"text"})); }).find("at least 257"),
              std::string::npos);
  EXPECT_EQ(learn_bpe(257, pieces({})).tokens.size(), 257u);
  const std::string text = "abab abab";
  EXPECT_EQ(learn_bpe(1000000000000, pieces({text})).tokens.size(), 259u);
  EXPECT_EQ(learn_bpe(259, pieces({text})).merges.entries().size(), 2u);
  EXPECT_EQ(learn_bpe(0, pieces({text})).tokens.size(), 259u);  // the usual size, or fewer
}

TEST(BpeTraining, TextWithoutSpacesIsLearnedFrom) {
  Rng rng(3);
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "acgt"[rng.below(4)];
  EXPECT_EQ(learn_bpe(1000, pieces({text})).tokens.size(), 1000u);
  // In parts of 256: 2, 4, ..., 256 letters, then nothing comes twice.
  EXPECT_EQ(learn_bpe(300, pieces({std::string(10000, 'a')})).tokens.size(), 265u);
}

TEST(Bpe, AnyBytesComeBack) {
  const auto tokenizer = make_bpe_tokenizer(learn_bpe(400, [](const auto& take) {
    Rng rng(1);
    take(test::random_text(rng, 20000));
  }));
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Rng rng(seed, 2);
    const std::string text =
        seed % 2 ? test::random_bytes(rng, rng.below(200)) : test::random_text(rng, rng.below(200));
    ASSERT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text) << "seed " << seed;
  }
}

TEST(Bpe, Gpt2sVocabularyIsReadAndWritten) {
  const auto encoder = test::test_data("tokenizers/gpt2-encoder.json"),
             merges = test::test_data("tokenizers/gpt2-vocab.bpe");
  if (!encoder || !merges)
    GTEST_SKIP() << "set HEED_TEST_DATA to a folder with tokenizers/gpt2-encoder.json and gpt2-vocab.bpe";
  const Json vocabulary = Json::parse(*encoder);
  const auto tokenizer = make_bpe_tokenizer(bpe_from_gpt2_files(vocabulary, *merges));
  EXPECT_EQ(tokenizer->size(), 50257);
  EXPECT_EQ(tokenizer->end(), 50256);
  EXPECT_EQ(encoded(*tokenizer, "Hello world"), (Ids{15496, 995}));
  EXPECT_EQ(encoded(*tokenizer, "<|endoftext|>"), (Ids{27, 91, 437, 1659, 5239, 91, 29}));
  const Json json = tokenizer->to_json();
  EXPECT_EQ(json["model"]["vocab"], vocabulary);
  EXPECT_EQ(json["model"]["merges"].size(), 50000u);
  EXPECT_EQ(make_bpe_tokenizer(bpe_from_json(json))->to_json(), json);
}

}  // namespace
}  // namespace heed::data
