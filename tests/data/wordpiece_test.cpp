#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "heed/base/philox.h"
#include "heed/data/bert_words.h"
#include "heed/data/utf8.h"
#include "heed/data/wordpiece_files.h"
#include "heed/data/wordpiece_tokenizer.h"
#include "heed/data/wordpiece_training.h"
#include "tests/data/support.h"
#include "tests/support/bert_words.h"
#include "tests/support/messages.h"
#include "tests/support/random_text.h"
#include "tests/support/test_data.h"

namespace heed::data {
namespace {

using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

std::string lines(const std::vector<std::string>& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += token + "\n";
  return all;
}

// [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, and the tokens from 5 on.
std::vector<std::string> with_special(std::vector<std::string> tokens) {
  tokens.insert(tokens.begin(), WordPieceVocabulary::kSpecial.begin(), WordPieceVocabulary::kSpecial.end());
  return tokens;
}
WordPieceVocabulary vocabulary_of(const std::vector<std::string>& tokens, const Json& config = {}) {
  return wordpiece_from_lines(lines(with_special(tokens)), config);
}
std::unique_ptr<Tokenizer> tokenizer_of(const std::vector<std::string>& tokens, const Json& config = {}) {
  return make_wordpiece_tokenizer(vocabulary_of(tokens, config));
}

// Answers of another program, see tests/oracle/wordpiece.mjs.
TEST(WordPiece, IdsAreThoseOfHuggingFace) {
  const Json all = Json::parse(MappedFile(HEED_SOURCE_DIR "/tests/data/wordpiece_cases.json").text());
  std::vector<WordPieceVocabulary> vocabularies;
  for (const Json& file : all["files"]) vocabularies.push_back(wordpiece_from_json(file));
  ASSERT_GT(all["cases"].size(), 50u);
  for (const Json& one : all["cases"]) {
    const WordPieceVocabulary& vocabulary = vocabularies.at(one["file"].get<size_t>());
    const std::string text = one["text"];
    EXPECT_EQ(test::bert_words_of(text, vocabulary.words), one["words"].get<Words>())
        << one["file"] << ": " << text;
    EXPECT_EQ(encoded(*make_wordpiece_tokenizer(vocabulary), text), one["ids"].get<Ids>())
        << one["file"] << ": " << text;
  }
}

// What JavaScript cannot say, or says differently.
TEST(WordPiece, WordsOfBytesAndOfCharactersBeyondTheBasicPlane) {
  EXPECT_EQ(test::bert_words_of("a\xff"
                                "b \xe2\x80 c\xed\xa0\x80"
                                "d\xc0\xa0 \xf4\x90\x80\x80"),
            (Words{"ab", "cd"}));
  EXPECT_EQ(test::bert_words_of("caf\xe9 x\xcc"), (Words{"caf", "x"}));
  EXPECT_EQ(test::bert_words_of(std::string("a\0b", 3)), (Words{"ab"}));
  // First and last ones of each block, and their neighbours.
  for (const int32_t c : {0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xFA0E, 0x20000, 0x2A6DF, 0x2A700, 0x2B73F, 0x2B740,
                          0x2B81F, 0x2B820, 0x2B91F, 0x2B920, 0x2CEAF}) {
    std::string character;
    append_utf8(c, character);
    EXPECT_EQ(test::bert_words_of("a" + character + character + "b"), (Words{"a", character, character, "b"}))
        << std::hex << c;
  }
  for (const int32_t c : {0x33FF, 0x4DC0, 0xA000, 0x30000, 0x2CEB0, 0x3042}) {
    std::string text = "a";
    append_utf8(c, text);
    EXPECT_EQ(test::bert_words_of(text), Words{text}) << std::hex << c;
  }
  EXPECT_EQ(test::bert_words_of("a\U0002F800b"), (Words{"a", "\u4E3D", "b"}));  // its decomposition
}

// The longest piece first, tried one after the other, as BERT's code does it.
Ids longest_first(const std::vector<std::string>& tokens, const std::string& word) {
  std::map<std::string, int32_t> ids;
  for (size_t id = 0; id < tokens.size(); ++id) ids[tokens[id]] = static_cast<int32_t>(id);
  std::vector<std::string> characters;
  for (size_t at = 0; at < word.size(); at += characters.back().size())
    characters.push_back(word.substr(at, utf8_at(word, at).length));
  if (characters.size() > 100) return {ids.at("[UNK]")};
  Ids found;
  for (size_t begin = 0, end; begin < characters.size(); begin = end) {
    for (end = characters.size(); end > begin; --end) {
      std::string piece = begin > 0 ? "##" : "";
      for (size_t i = begin; i < end; ++i) piece += characters[i];
      if (const auto id = ids.find(piece); id != ids.end()) {
        found.push_back(id->second);
        break;
      }
    }
    if (end == begin) return {ids.at("[UNK]")};
  }
  return found;
}

TEST(WordPiece, LongestPieceFirst) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const auto some = [&](const std::vector<std::string>& list) {
      return list[static_cast<size_t>(rng.below(std::ssize(list)))];
    };
    const std::vector<std::string> letters = {"a", "b", "c", "א", "😀", "ß"};
    std::vector<std::string> tokens;
    for (int i = 0; i < 30; ++i) {
      std::string token = rng.below(2) ? "##" : "";
      for (int64_t j = rng.below(4); j >= 0; --j) token += some(letters);
      if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
    }
    tokens = with_special(tokens);
    const auto tokenizer = make_wordpiece_tokenizer(wordpiece_from_lines(lines(tokens), Json()));
    std::string text;
    Ids expected;
    int64_t unknown = 0;
    for (int i = 0; i < 200; ++i) {
      std::string word;
      for (int64_t j = rng.below(i % 50 == 0 ? 120 : 8); j >= 0; --j) word += some(letters);
      const Ids ids = longest_first(tokens, word);
      expected.insert(expected.end(), ids.begin(), ids.end());
      unknown += ids == Ids{1};
      text += word + some({" ", "\n", "\u00a0", "\t \t"});
    }
    ASSERT_EQ(encoded(*tokenizer, text), expected) << seed;
    ASSERT_EQ(tokenizer->count_unknown(text), unknown) << seed;
  }
}

TEST(WordPiece, SpansSayWhereTokensAre) {
  const auto tokenizer = tokenizer_of(
      {"the", "cafe", "##s", "x", "##y", "\u1112", "##\u1161", "##\u11ab", "字", "e", ".", "i", "##x", "a"});
  struct Case {
    std::string text;
    std::vector<std::string> sources;
  };
  const std::vector<Case> cases = {
      {"The  cafes.", {"The", "cafe", "s", "."}},
      {"\u3000Café\tCAFE\u0301S", {"Café", "CAFE", "S"}},  // the mark after E belongs to no letter
      {"한 x\u00adY", {"한", "한", "한", "x", "Y"}},
      {"x字\nthe字", {"x", "字", "the", "字"}},
      {"unknown [MASK]the[MASK]", {"unknown", "[MASK]", "the", "[MASK]"}},
      {"İx\xff"
       "x \xff e\u0338\u0301",
       {"İ", "x", "x", "e"}},
      {"a\U0001d16d\U0001d165", {"a\U0001d16d\U0001d165"}},
      {"", {}},
  };
  for (const auto& [text, sources] : cases) {
    Ids ids;
    std::vector<TokenSpan> spans;
    tokenizer->encode_with_spans(text, ids, spans);
    EXPECT_EQ(ids, encoded(*tokenizer, text));
    std::vector<std::string> found;
    for (const auto [begin, end] : spans) found.push_back(text.substr(begin, end - begin));
    EXPECT_EQ(found, sources) << text;
  }
  EXPECT_NE(test::message_of([] {
              Ids ids;
              std::vector<TokenSpan> spans;
              learn_tokenizer({}, [](const auto&) {})->encode_with_spans("a", ids, spans);
            }).find("bytes does not say where"),
            std::string::npos);
}

TEST(WordPiece, SpansOfAnyTextGiveItsIds) {
  const auto tokenizer =
      tokenizer_of({"a", "b", "##a", "##b", "s", "##s", "re", "e", "##e", "字", "1", "23", "'"});
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    std::string text = test::random_text(rng, rng.below(60));
    if (seed % 5 == 0) text += "[MASK]" + test::random_bytes(rng, 30);
    Ids ids;
    std::vector<TokenSpan> spans;
    tokenizer->encode_with_spans(text, ids, spans);
    ASSERT_EQ(ids, encoded(*tokenizer, text));
    ASSERT_EQ(ids.size(), spans.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      ASSERT_LT(spans[i].begin, spans[i].end);
      ASSERT_LE(spans[i].end, text.size());
      ASSERT_LE(spans[i > 0 ? i - 1 : 0].begin, spans[i].begin);
      std::string token = tokenizer->decode(Ids{ids[i]}), source;
      if (ids[i] == 1 || ids[i] == 4) continue;
      for (const std::string& word :
           test::bert_words_of(text.substr(spans[i].begin, spans[i].end - spans[i].begin)))
        source += word;
      ASSERT_EQ(source, token) << text;
    }
  }
}

TEST(WordPiece, TextComesBackReadable) {
  const auto tokenizer =
      tokenizer_of({"un", "##aff", "##able", "the", "cat", ",", ".", "(", ")", "don", "'", "t", "#"});
  const auto again = [&](std::string_view text) { return tokenizer->decode(encoded(*tokenizer, text)); };
  EXPECT_EQ(again("Unaffable, the (cat) ."), "unaffable, the ( cat).");
  EXPECT_EQ(again("don't"), "don ' t");
  EXPECT_EQ(again("the dog[SEP][PAD]##"), "the [UNK] [SEP] [PAD] # #");
  EXPECT_EQ(tokenizer->decode(Ids{6, 7}), "affable");  // a beginning that is none
  EXPECT_EQ(tokenizer->decode(Ids{}), "");
  EXPECT_EQ(tokenizer->end(), -1);
}

TEST(WordPiece, CutsAreAtBlanks) {
  const auto tokenizer = tokenizer_of({"a"});
  EXPECT_EQ(tokenizer->cut_before("ab cd", 5), 5u);
  EXPECT_EQ(tokenizer->cut_before("ab cd", 4), 3u);
  EXPECT_EQ(tokenizer->cut_before("ab cd", 2), 2u);
  EXPECT_EQ(tokenizer->cut_before("ab\u00a0cd.e", 5), 0u);
}

TEST(WordPiece, AsLinesWithTheirSettings) {
  const std::vector<std::string> small = {"the", "cafe", "##\u0301"}, cased = {"the", "The", "[Unused]"};
  const auto words = [](const WordPieceVocabulary& made) { return made.words; };
  EXPECT_EQ(words(vocabulary_of(small)), BertWordSettings());
  EXPECT_EQ(words(vocabulary_of(cased)), (BertWordSettings{true, true, false, false}));
  EXPECT_TRUE(vocabulary_of({"the", "[Unused]"}).words.lower_case);
  EXPECT_FALSE(vocabulary_of({"ΟΔΟΣ"}).words.lower_case);
  EXPECT_EQ(words(vocabulary_of(small, {{"do_lower_case", false}})),
            (BertWordSettings{true, true, false, false}));
  EXPECT_EQ(words(vocabulary_of(cased, {{"do_lower_case", true}})), BertWordSettings());
  EXPECT_EQ(words(vocabulary_of(small, {{"strip_accents", false}, {"tokenize_chinese_chars", false}})),
            (BertWordSettings{true, false, true, false}));
  EXPECT_EQ(words(vocabulary_of(small, {{"strip_accents", nullptr}, {"vocab_size", 30}})),
            BertWordSettings());

  const std::string plain = lines(with_special(small));
  std::string windows = plain;
  for (size_t at = 0; (at = windows.find('\n', at)) != windows.npos; at += 2) windows.insert(at, "\r");
  const Json expected = wordpiece_to_json(wordpiece_from_lines(plain, Json()));
  EXPECT_EQ(wordpiece_to_json(wordpiece_from_lines(windows, Json())), expected);
  EXPECT_EQ(wordpiece_to_json(wordpiece_from_lines(plain.substr(0, plain.size() - 1), Json())), expected);
}

TEST(WordPiece, FilesAndFoldersOfLines) {
  const ScratchFolder folder;
  folder.write("vocab.txt", lines(with_special({"the", "##s"})));
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->kind(), "wordpiece");
  EXPECT_EQ(encoded(*tokenizer, "Thes"), (Ids{5, 6}));
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(encoded(*load_tokenizer(folder.path() / "vocab.txt"), "Thes thes"), (Ids{1, 5, 6}));
  folder.write("tokenizer_config.json", R"({"do_lower_case": "no"})");
  EXPECT_SAYS(load_tokenizer(folder.path()),
              "vocab.txt: 'do_lower_case' should be true or false, found \"no\"");
  folder.write("tokenizer_config.json", R"({"do_lower_case":)");
  EXPECT_SAYS(load_tokenizer(folder.path()), "tokenizer_config.json: is not JSON", ErrorKind::kDamaged);
  folder.write("tokenizer.json", tokenizer->to_json().dump());
  EXPECT_EQ(encoded(*load_tokenizer(folder.path()), "Thes"), (Ids{5, 6}));
}

TEST(WordPiece, BadLinesAreNamed) {
  const auto of = [](const std::string& text, const Json& config = {}) {
    wordpiece_from_lines(text, config);
  };
  for (const char* missing : WordPieceVocabulary::kSpecial) {
    auto tokens = with_special({"the"});
    std::erase(tokens, missing);
    EXPECT_SAYS(of(lines(tokens)), std::string("the vocabulary of 5 tokens has no ") + missing +
                                       "; BERT needs [PAD], [UNK], [CLS], [SEP] and [MASK]");
  }
  EXPECT_SAYS(of(""), "the vocabulary of 0 tokens has no [PAD]");
  EXPECT_SAYS(of(lines(with_special({"the", "a", "the"}))), "lines 6 and 8 are both 'the'");
  EXPECT_SAYS(of(lines(with_special({"the", "", "a"}))), "line 7 is empty");
  EXPECT_SAYS(of(lines(with_special({"the"})) + "\r\n"), "line 7 is empty");
  EXPECT_SAYS(of(lines(with_special({"caf\xe9"}))), "line 6, 'caf\\xe9', is not UTF-8");
  EXPECT_SAYS(of(lines(with_special({})), Json::array()),
              "tokenizer_config.json should be an object, found array");
  EXPECT_SAYS(of(lines(with_special({})), {{"do_basic_tokenize", false}}),
              "'do_basic_tokenize' differs from BERT");
}

TEST(WordPiece, ForeignFilesThatDifferFromBertAreRefused) {
  const Json file = wordpiece_to_json(vocabulary_of({"the", "##s"}));
  ASSERT_EQ(wordpiece_to_json(wordpiece_from_json(file)), file);
  const std::vector<std::pair<std::string, std::string>> patches = {
      {R"([{"op":"remove","path":"/model/vocab"}])", "'vocab' is missing"},
      {R"([{"op":"replace","path":"/model/vocab","value":[]}])", "'vocab' should be an object"},
      {R"([{"op":"replace","path":"/model/vocab/the","value":0}])", "both have id 0"},
      {R"([{"op":"replace","path":"/model/vocab/the","value":7}])", "'the' has id 7"},
      {R"([{"op":"replace","path":"/model/vocab/the","value":"5"}])", "found string"},
      {R"([{"op":"move","from":"/model/vocab/the","path":"/model/vocab/"}])", "empty token"},
      {R"([{"op":"replace","path":"/model/unk_token","value":"<unk>"}])", "'unk_token' differs from BERT"},
      {R"([{"op":"replace","path":"/model/continuing_subword_prefix","value":""}])",
       "'continuing_subword_prefix' differs from BERT"},
      {R"([{"op":"replace","path":"/model/max_input_chars_per_word","value":-1}])", "found -1"},
      {R"([{"op":"replace","path":"/model/max_input_chars_per_word","value":4294967296}])",
       "found 4294967296"},
      {R"([{"op":"replace","path":"/normalizer","value":null}])",
       "'normalizer' should be an object, found null"},
      {R"([{"op":"replace","path":"/normalizer/type","value":"Lowercase"}])",
       "only BertNormalizer is supported"},
      {R"([{"op":"replace","path":"/normalizer/lowercase","value":1}])",
       "'lowercase' should be true or false"},
      {R"([{"op":"remove","path":"/pre_tokenizer"}])", "'pre_tokenizer' is missing"},
      {R"([{"op":"replace","path":"/pre_tokenizer/type","value":"Whitespace"}])",
       "only BertPreTokenizer is supported"},
      {R"([{"op":"remove","path":"/model/vocab/[MASK]"},{"op":"remove","path":"/added_tokens/4"},)"
       R"({"op":"replace","path":"/model/vocab/the","value":4},{"op":"replace","path":"/model/vocab/##s","value":5}])",
       "the vocabulary of 6 tokens has no [MASK]"},
      {R"([{"op":"replace","path":"/added_tokens/4/id","value":5}])",
       "has id 5 as an added token, but another"},
      {R"([{"op":"replace","path":"/added_tokens/4/lstrip","value":true}])", "'[MASK]' is 'lstrip'"},
      {R"([{"op":"add","path":"/added_tokens/5","value":{"id":7,"content":"a b"}}])",
       "has white space in it"},
      {R"([{"op":"add","path":"/added_tokens/5","value":{"id":7,"content":""}}])", "with id 7 is empty"},
      {R"([{"op":"add","path":"/added_tokens/5","value":{"id":9,"content":"x"}}])", "'x' has id 9"},
      {R"([{"op":"add","path":"/added_tokens/5","value":{"id":7,"content":"x","normalized":true}}])",
       "'x' is 'normalized'"},
      {R"([{"op":"copy","from":"/added_tokens/4","path":"/added_tokens/5"}])",
       "appears twice among the added"},
  };
  for (const auto& [patch, complaint] : patches) {
    const Json changed = file.patch(Json::parse(patch));
    EXPECT_SAYS(wordpiece_from_json(changed), complaint);
  }
}

TEST(WordPiece, AddedTokensMayLieBeyondTheVocabulary) {
  Json file = wordpiece_to_json(vocabulary_of({"the", "##s"}));
  file["added_tokens"].push_back({{"id", 7}, {"content", "<url>"}, {"special", false}});
  file["added_tokens"].erase(4);  // [MASK] is one all the same
  const auto tokenizer = make_wordpiece_tokenizer(wordpiece_from_json(file));
  EXPECT_EQ(tokenizer->size(), 8);
  EXPECT_EQ(encoded(*tokenizer, "the<url>s <URL>[MASK]"), (Ids{5, 7, 1, 1, 1, 1, 4}));
  EXPECT_EQ(tokenizer->decode(Ids{5, 7}), "the <url>");
  EXPECT_EQ(make_wordpiece_tokenizer(wordpiece_from_json(tokenizer->to_json()))->to_json(),
            tokenizer->to_json());
}

WordPieceVocabulary learned(int64_t size, const std::string& text, bool cased = false) {
  return learn_wordpiece(size, {true, true, !cased, !cased}, [&](const auto& take) { take(text); });
}

TEST(WordPieceTraining, MergesTheMostFrequentPairs) {
  // "##a ##n" occurs 5 times; then "b ##an" does 3 times, and nothing else twice.
  const std::string text = "ban Bán banana, nan.\n";
  EXPECT_EQ(learned(14, text).tokens, with_special({",", ".", "a", "b", "n", "##a", "##b", "##n", "##an"}));
  EXPECT_EQ(learned(15, text).tokens.back(), "ban");
  EXPECT_EQ(learned(16, text).tokens.size(), 15u);  // nothing else occurs twice
  EXPECT_EQ(learned(0, text).tokens, learned(15, text).tokens);
  EXPECT_EQ(learned(0, text).added.size(), 5u);
  const auto tokenizer = make_wordpiece_tokenizer(learned(0, text));
  EXPECT_EQ(encoded(*tokenizer, "BANAN b"), (Ids{14, 13, 8}));
}

TEST(WordPieceTraining, KeepsCasesIfAsked) {
  const auto has = [](const WordPieceVocabulary& made, const std::string& token) {
    return std::find(made.tokens.begin(), made.tokens.end(), token) != made.tokens.end();
  };
  const auto cased = learned(0, "Émile Émile", true), uncased = learned(0, "Émile Émile");
  EXPECT_TRUE(has(cased, "Émile"));
  EXPECT_TRUE(has(uncased, "emile"));
  TokenizerSpec spec{"wordpiece", 0, "keep", true};
  const TextSource text = [](const auto& take) { take("Émile Émile"); };
  EXPECT_EQ(learn_tokenizer(spec, text)->to_json(), wordpiece_to_json(cased));
  spec.kind = "words";
  EXPECT_SAYS(learn_tokenizer(spec, text),
              "words: cased was asked for, but it is a setting of wordpiece only");
  EXPECT_SAYS(learn_tokenizer({"wordpiece", 0, "drop"}, text), "setting of characters only");
}

TEST(WordPieceTraining, LeavesOutWhatIsRareAndWhatIsNoWord) {
  std::string text = std::string(200, 'q') + " [MASK] [SEP]x[PAD] 字字字 !!! x x z";  // "z" is one of 20 000
  for (int i = 0; i < 10'000; ++i) text += i % 100 == 0 ? " cd" : " ab";
  EXPECT_EQ(learned(0, text).tokens,
            with_special({"!", "a", "b", "c", "d", "x", "字", "##a", "##b", "##c", "##d", "ab", "cd"}));
  EXPECT_EQ(learned(10, text).tokens, with_special({"a", "b", "##a", "##b", "ab"}));
  EXPECT_SAYS(learned(5, text), "it needs at least 6 (5 special tokens and a character)");
  EXPECT_SAYS(learned(-1, text), "it needs at least 6");
  EXPECT_SAYS(learned(0, " \n\u3000[MASK]"), "the text to learn from has no words");
}

TEST(WordPieceTraining, LearnsToSayItsText) {
  Rng rng(5);
  const std::string text = test::random_text(rng, 5000);
  const auto made = learned(0, text);
  EXPECT_EQ(made.tokens, learned(0, text).tokens);
  const auto tokenizer = make_wordpiece_tokenizer(made);
  EXPECT_EQ(tokenizer->count_unknown(text), 0);
}

}  // namespace
}  // namespace heed::data
