#include "heed/data/tokenizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "heed/base/hash.h"
#include "tests/data/support.h"
#include "tests/support/messages.h"
#include "tests/support/random_text.h"
#include "tests/support/test_data.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

TextSource pieces(std::vector<std::string> texts) {
  return [texts](const auto& take) {
    for (const std::string& text : texts) take(text);
  };
}

std::unique_ptr<Tokenizer> learned(const std::string& kind, const std::string& text, int64_t vocabulary = 0,
                                   const std::string& newline = "keep") {
  TokenizerSpec spec;
  spec.kind = kind;
  spec.vocabulary = vocabulary;
  spec.newline = newline;
  return learn_tokenizer(spec, pieces({text}));
}

class Folder : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& content) {
    return scratch_.write(name, content);
  }
  std::unique_ptr<Tokenizer> reload(const Tokenizer& tokenizer) {
    return load_tokenizer(write("tokenizer.json", tokenizer.to_json().dump()));
  }
  const ScratchFolder scratch_;
  const fs::path& path_ = scratch_.path();
};

// What every kind keeps, over the whole list. The text has damaged bytes, blank lines and no line end at its
// end.
TEST_F(Folder, EveryKindKeepsTheRules) {
  Rng rng(7);
  const std::string text =
      "the cat\n\n  and the hat\tsat <unk> \xff caf\xe9\r\n" + test::random_text(rng, 300) + " end";
  for (const TokenizerEntry& entry : tokenizers()) {
    SCOPED_TRACE(entry.name);
    EXPECT_FALSE(entry.meaning.empty());
    const auto tokenizer = learned(entry.name, text, entry.name == "bpe" ? 280 : 0);
    EXPECT_EQ(tokenizer->kind(), entry.name);
    const Ids ids = encoded(*tokenizer, text);
    ASSERT_FALSE(ids.empty());
    for (int32_t id : ids) ASSERT_TRUE(id >= 0 && id < tokenizer->size());
    EXPECT_EQ(encoded(*tokenizer, tokenizer->decode(ids)), ids);
    EXPECT_LT(tokenizer->end(), tokenizer->size());
    EXPECT_EQ(encoded(*tokenizer, ""), Ids());

    Ids appended = {-5};
    tokenizer->encode(text, appended);
    EXPECT_EQ(appended[0], -5);
    EXPECT_EQ(Ids(appended.begin() + 1, appended.end()), ids);

    for (size_t position = 0; position <= text.size() + 3; ++position) {
      const size_t cut = tokenizer->cut_before(text, position);
      ASSERT_LE(cut, std::min(position, text.size()));
      Ids parts = encoded(*tokenizer, std::string_view(text).substr(0, cut));
      tokenizer->encode(std::string_view(text).substr(cut), parts);
      ASSERT_EQ(parts, ids) << "cut at " << cut;
    }
    for (size_t count = 0; count <= ids.size(); ++count) {  // more tokens only add to the text
      ASSERT_TRUE(tokenizer->decode(ids).starts_with(tokenizer->decode(std::span(ids).first(count))));
    }

    const auto again = reload(*tokenizer);
    EXPECT_EQ(again->kind(), tokenizer->kind());
    EXPECT_EQ(again->size(), tokenizer->size());
    EXPECT_EQ(again->end(), tokenizer->end());
    EXPECT_EQ(encoded(*again, text), ids);
    EXPECT_EQ(again->decode(ids), tokenizer->decode(ids));
    EXPECT_EQ(again->to_json(), tokenizer->to_json());
    EXPECT_EQ(load_tokenizer(path_)->to_json(), tokenizer->to_json());

    for (int32_t id : {-1, static_cast<int32_t>(tokenizer->size()), INT32_MAX, INT32_MIN}) {
      EXPECT_NE(test::message_of([&] { tokenizer->decode(Ids{id}); }).find("not in the vocabulary"),
                std::string::npos);
    }
    std::vector<Ids> results(4);
    std::vector<std::thread> threads;
    for (Ids& result : results) {
      threads.emplace_back([&tokenizer, &text, &result] {
        for (int i = 0; i < 20; ++i) result = encoded(*tokenizer, text);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Ids& result : results) EXPECT_EQ(result, ids);
  }
}

// Folders of models keep these. If one changes, models of earlier versions are refused: then what they keep
// must be told apart from what is new.
TEST(Tokenizers, HashesAreThoseOfEarlierVersions) {
  const std::string text = "the cat sat on the mat, the cat sat\n";
  std::map<std::string, std::string> found;
  for (const TokenizerEntry& entry : tokenizers())
    found[entry.name] = hash_name(learned(entry.name, text, entry.name == "bpe" ? 260 : 0)->hash());
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"bpe", "77654b80c9e4ac0f"},
                                                       {"bytes", "badd9fff7d168269"},
                                                       {"characters", "dd2ae1cb34883193"},
                                                       {"lm1b", "9a806d0912d31ac2"},
                                                       {"wordpiece", "69883146d71fc429"},
                                                       {"words", "68809c2ca6e7e838"}}));
}

TEST(Tokenizers, UnknownKindIsNamed) {
  EXPECT_EQ(test::message_of([] { learned("byte", ""); }).substr(0, 52),
            "unknown tokenizer 'byte'; did you mean 'bytes'? Know");
}

TEST(Bytes, AreTheirOwnIds) {
  const auto tokenizer = learned("bytes", "");
  EXPECT_EQ(tokenizer->size(), 256);
  EXPECT_EQ(tokenizer->end(), -1);
  EXPECT_EQ(encoded(*tokenizer, std::string("a\0\xff", 3)), (Ids{97, 0, 255}));
  EXPECT_EQ(tokenizer->cut_before("abc", 2), 2u);
  EXPECT_NE(test::message_of([] { learned("bytes", "", 100); }).find("always have 256"), std::string::npos);
  EXPECT_NE(test::message_of([] { learned("bytes", "", 0, "drop"); }).find("characters only"),
            std::string::npos);
}

TEST(Characters, IdsByCountThenAppearance) {
  const auto tokenizer = learned("characters", "ba cab\n\n\n\nd");
  EXPECT_EQ(tokenizer->size(), 6);
  EXPECT_EQ(encoded(*tokenizer, "\nba cd"), (Ids{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(tokenizer->end(), -1);
  EXPECT_EQ(test::message_of([&] { encoded(*tokenizer, "bad x"); }),
            "characters: 'x' at byte 4 of the text is not in the vocabulary; learn the vocabulary from all "
            "parts of "
            "the text, or use bytes");
}

TEST(Characters, LineEndsKeptDroppedOrTheEnd) {
  const std::string text = "a\nb\na";
  const auto keep = learned("characters", text), drop = learned("characters", text, 0, "drop"),
             eos = learned("characters", text, 0, "eos");
  EXPECT_EQ(encoded(*keep, text), (Ids{0, 1, 2, 1, 0}));
  EXPECT_EQ(drop->size(), 2);
  EXPECT_EQ(encoded(*drop, text), (Ids{0, 1, 0}));
  EXPECT_EQ(drop->decode(encoded(*drop, text)), "aba");
  EXPECT_EQ(drop->end(), -1);
  EXPECT_EQ(encoded(*eos, text), (Ids{0, 1, 2, 1, 0}));
  EXPECT_EQ(eos->end(), 1);
  EXPECT_EQ(eos->decode(encoded(*eos, text)), text);
  EXPECT_EQ(learned("characters", "abba", 0, "eos")->end(), 2);
  EXPECT_EQ(test::message_of([] { learned("characters", "a", 0, "maybe"); }),
            "characters: newline: 'maybe' is not one of keep, drop, eos");
  EXPECT_NE(test::message_of([] { learned("characters", ""); }).find("empty"), std::string::npos);
  EXPECT_NE(test::message_of([] { learned("characters", "\n", 0, "drop"); }).find("empty"),
            std::string::npos);
  EXPECT_NE(test::message_of([] { learned("characters", "a", 50); }).find("leave it at 0"),
            std::string::npos);
}

TEST_F(Folder, CharactersRememberTheirLineEnds) {
  for (const char* newline : {"keep", "drop", "eos"}) {
    const auto tokenizer = learned("characters", "a\nb\na", 0, newline);
    const auto again = reload(*tokenizer);
    EXPECT_EQ(encoded(*again, "a\nb"), encoded(*tokenizer, "a\nb"));
    EXPECT_EQ(again->end(), tokenizer->end());
    EXPECT_EQ(again->to_json(), tokenizer->to_json());
  }
}

TEST(Words, LinesAndVocabulary) {
  const std::string text = " = b a = \n\n a a <unk>\tb \n";
  const auto tokenizer = learned("words", text);  // a 3, = 2, b 2, <unk> 1
  EXPECT_EQ(tokenizer->size(), 5);
  EXPECT_EQ(tokenizer->end(), 0);
  EXPECT_EQ(encoded(*tokenizer, text), (Ids{2, 3, 1, 2, 0, 0, 1, 1, 4, 3, 0}));
  EXPECT_EQ(encoded(*tokenizer, "a\nb"), (Ids{1, 0, 3, 0}));  // the last line needs no line end
  EXPECT_EQ(encoded(*tokenizer, "\n"), (Ids{0}));
  EXPECT_EQ(encoded(*tokenizer, "A a\v\f\r\n"), (Ids{4, 1, 0}));
  EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, text)), "= b a =\n\na a <unk> b\n");
  EXPECT_EQ(tokenizer->cut_before("ab\ncd\n", 5), 3u);
  EXPECT_EQ(tokenizer->cut_before("ab\ncd\n", 3), 3u);
  EXPECT_EQ(tokenizer->cut_before("ab\ncd\n", 2), 0u);
}

std::string utf8(int32_t c) {
  const auto byte = [](int32_t bits) { return static_cast<char>(bits); };
  const auto rest = [&](int shift) { return byte(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), rest(0)};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), rest(6), rest(0)};
  return {byte(0xF0 | c >> 18), rest(12), rest(6), rest(0)};
}

// Where str.split() of Python splits, with lines as open() reads them: "\n", "\r" and "\r\n" end one.
TEST(Words, WordsAndLinesAreThoseOfPython) {
  const auto tokenizer = learned("words", "a b c <unk>\n");
  std::vector<int32_t> spaces;
  for (int32_t c = 0; c <= 0x10FFFF; ++c) {
    if ((c >= 0xD800 && c < 0xE000) || c == '\n' || c == '\r') continue;
    if (encoded(*tokenizer, "a" + utf8(c) + "b") == Ids{1, 2, 0}) spaces.push_back(c);
  }
  EXPECT_EQ(spaces,
            (std::vector<int32_t>{0x09,   0x0B,   0x0C,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,   0x85,
                                  0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
                                  0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}));
  EXPECT_EQ(encoded(*tokenizer, "a\rb\r\nc\n\ra"), (Ids{1, 0, 2, 0, 3, 0, 0, 1, 0}));
  EXPECT_EQ(encoded(*tokenizer, "a\r"), (Ids{1, 0}));
  EXPECT_EQ(encoded(*tokenizer, "a\x85 b\xE2\x80"), (Ids{4, 4, 0}));  // bytes that are no characters
  EXPECT_EQ(encoded(*tokenizer, "a\xE2\u3000b"), (Ids{4, 2, 0}));
  EXPECT_EQ(tokenizer->cut_before("a\r\nb", 3), 3u);
  EXPECT_EQ(tokenizer->cut_before("a\r\nb", 2), 0u);  // not inside a line end
  EXPECT_EQ(tokenizer->cut_before("a\rb\n", 3), 2u);
  EXPECT_EQ(encoded(*learned("lm1b", "a a a\n"), "a\u00a0a\ra"), (Ids{0, 2, 2, 0, 0, 2, 0}));
}

TEST(Words, WithoutUnkAnUnknownWordIsNamed) {
  const auto tokenizer = learned("words", "a b\n");
  Ids ids;
  EXPECT_NE(test::message_of([&] {
              tokenizer->encode("a newword\n", ids);
            }).find("'newword' is not in the vocabulary of 3"),
            std::string::npos);
}

TEST(Words, ALimitKeepsTheMostFrequent) {
  const std::string text = "d c c b b b a a a a\n";
  const auto tokenizer = learned("words", text, 4);  // a 4, b 3, and <unk> for c and d: 3
  EXPECT_EQ(tokenizer->size(), 4);
  EXPECT_EQ(encoded(*tokenizer, "a b c d e <unk>"), (Ids{1, 2, 3, 3, 3, 3, 0}));
  EXPECT_EQ(tokenizer->decode(Ids{3}), "<unk>");
  EXPECT_EQ(learned("words", text, 3)->decode(Ids{1, 2}), "<unk> a");  // 6 against 4
  EXPECT_EQ(learned("words", text, 100)->size(), 6);
  EXPECT_NE(test::message_of([&] { learned("words", text, 2); }).find("at least 3"), std::string::npos);
  EXPECT_NE(test::message_of([&] { learned("words", text, -1); }).find("at least 3"), std::string::npos);
  EXPECT_NE(test::message_of([&] { learned("words", " \n "); }).find("no words"), std::string::npos);
}

TEST(Lm1b, SentencesHaveTwoEnds) {
  const std::string text = "b a\na a c\nb b c\nb c d d\n";  // b 4, a 3, c 3, d 2
  const auto tokenizer = learned("lm1b", text);
  EXPECT_EQ(tokenizer->size(), 5);
  EXPECT_EQ(tokenizer->end(), 0);
  EXPECT_EQ(encoded(*tokenizer, "b a c d\n\nb"), (Ids{0, 2, 3, 4, 1, 0, 0, 2, 0}));
  EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, "b a d\n\n \nb")), "b a <UNK>\nb\n");
  EXPECT_EQ(encoded(*learned("lm1b", text, 3), "b a"), (Ids{0, 2, 1, 0}));
}

TEST(WikiText2, HasTheSizesThatArePublished) {
  const auto train = test::test_data("wikitext-2/train.txt"), valid = test::test_data("wikitext-2/valid.txt"),
             test = test::test_data("wikitext-2/test.txt");
  if (!train || !valid || !test) GTEST_SKIP() << "set HEED_TEST_DATA to a folder with wikitext-2";
  const auto tokenizer = learned("words", *train);
  EXPECT_EQ(tokenizer->size(), 33278);
  EXPECT_EQ(encoded(*tokenizer, *train).size(), 2088628u);
  EXPECT_EQ(encoded(*tokenizer, *valid).size(), 217646u);
  EXPECT_EQ(encoded(*tokenizer, *test).size(), 245569u);
}

TEST(Lm1b, HeldOutShardHasThePublishedSize) {
  const auto text = test::test_data("lm1b-news.en.heldout-00000-of-00050");
  if (!text) GTEST_SKIP() << "set HEED_TEST_DATA to a folder with lm1b-news.en.heldout-00000-of-00050";
  EXPECT_EQ(encoded(*learned("lm1b", *text), *text).size(), 153583u + 2 * 6075u);
}

TEST(Text8, Has27Characters) {
  const auto text = test::test_data("text8-5800K");
  if (!text) GTEST_SKIP() << "set HEED_TEST_DATA to a folder with text8-5800K";
  const auto tokenizer = learned("characters", *text);
  EXPECT_EQ(tokenizer->size(), 27);
  EXPECT_EQ(encoded(*tokenizer, " e"), (Ids{0, 1}));  // the most frequent ones of English
}

// Each is a whole file, and what the message must say.
TEST_F(Folder, DamagedFilesAreRefused) {
  const auto model = [](const std::string& part) { return R"({"model":{"type":"WordLevel",)" + part + "}}"; };
  const std::string words = R"("heed":{"kind":"words","bytes":{}})";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"", "not JSON"},
      {R"({"model":{"type":)", "not JSON"},
      {"\xff\xfe{}", "not JSON"},
      {R"({"a":")"
       "\xff"
       R"("})",
       "not JSON"},
      {"[]", "not a tokenizer heed can read"},
      {"null", "not a tokenizer heed can read"},
      {R"({"model":3})", "not a tokenizer heed can read"},
      {R"({"model":{"type":"Unigram"}})", "not a tokenizer heed can read"},
      {R"({"model":{"type":"WordPiece"}})", "'pre_tokenizer' is missing"},
      {model(R"("vocab":{"a":0})"), "not a tokenizer heed can read"},
      {model(R"("heed":{"kind":"runes"})"), "not a tokenizer heed can read"},
      {model(words), "'vocab' is missing"},
      {model(R"("vocab":[],)" + words), "'vocab' should be an object, found array"},
      {model(R"("vocab":{"<eos>":0,"a":2},)" + words), "'a' has id 2, but there are 2 tokens"},
      {model(R"("vocab":{"<eos>":0,"a":0},)" + words), "both have id 0"},
      {model(R"("vocab":{"<eos>":0,"a":-1},)" + words), "found number -1"},
      {model(R"("vocab":{"<eos>":0,"a":1.0},)" + words), "found number 1.0"},
      {model(R"("vocab":{"<eos>":0,"a":"1"},)" + words), "found string"},
      {model(R"("vocab":{"<eos>":0,"a":18446744073709551615},)" + words), "18446744073709551615"},
      {model(R"("vocab":{"<eos>":0,"a b":1},)" + words), "is not a word"},
      {model(R"("vocab":{"<eos>":0,"":1},)" + words), "is not a word"},
      {model(R"("vocab":{"<eos>":1,"a":0},)" + words), "'<eos>' should have id 0"},
      {model(R"("vocab":{},)" + words), "'<eos>' should have id 0"},
      {model(R"("vocab":{"<eos>":0},"heed":{"kind":"words"})"), "'bytes' is missing"},
      {model(R"("vocab":{"<eos>":0},"heed":{"kind":"words","bytes":{"1":[97,256]}})"), "0 to 255"},
      {model(R"("vocab":{"<eos>":0},"heed":{"kind":"words","bytes":{"1":7}})"), "should be an array"},
      {model(R"("vocab":{"<eos>":0},"heed":{"kind":"words","bytes":{"x":[97]}})"), "should be a number"},
      {model(R"("vocab":{"<eos>":0,"a":1},"heed":{"kind":"words","bytes":{"2":[97]}})"), "twice"},
      {model(R"("vocab":{"<S>":0,"a":1},"heed":{"kind":"lm1b","bytes":{}})"), "'<UNK>' is missing"},
      {model(R"("vocab":{"a":0},"heed":{"kind":"characters"})"), "'newline' is missing"},
      {model(R"("vocab":{"a":0},"heed":{"kind":"characters","newline":3})"), "'newline' should be a string"},
      {model(R"("vocab":{"a":0},"heed":{"kind":"characters","newline":"up"})"), "'up' is not one of"},
      {model(R"("vocab":{"ab":0},"heed":{"kind":"characters","newline":"keep"})"),
       "'ab' does not stand for one byte"},
      {model(R"("vocab":{},"heed":{"kind":"characters","newline":"keep"})"), "empty"},
      {model(R"("vocab":{"a":0},"heed":{"kind":"characters","newline":"eos"})"), "no line end"},
      {model(R"("vocab":{"a":0},"heed":{"kind":"bytes"})"), "damaged"},
  };
  for (const auto& [content, complaint] : files) {
    const fs::path file = write("tokenizer.json", content);
    const bool damaged = !Json::accept(content) || std::string(complaint) == "damaged";
    const std::string message =
        test::message_of([&] { load_tokenizer(file); }, damaged ? ErrorKind::kDamaged : ErrorKind::kUsage);
    EXPECT_NE(message.find(complaint), std::string::npos) << content << "\n  " << message;
    EXPECT_TRUE(message.starts_with(file.string())) << message;
  }
}

TEST_F(Folder, MissingFilesAreNamed) {
  EXPECT_NE(test::message_of([&] { load_tokenizer(path_); }).find("neither tokenizer.json nor"),
            std::string::npos);
  EXPECT_NE(test::message_of([&] { load_tokenizer(path_ / "absent.json"); }).find("absent.json"),
            std::string::npos);
}

// Whatever byte is lost or changed: an Error, or a tokenizer that works.
TEST(Tokenizers, DamageNeverCrashes) {
  for (const TokenizerEntry& entry : tokenizers()) {
    const auto tokenizer = learned(entry.name, "aa ab ab\nab aa a aa ab\n", entry.name == "bpe" ? 259 : 0);
    const std::string whole = tokenizer->to_json().dump();
    Rng rng(11);
    for (int i = 0; i < 300; ++i) {
      std::string damaged = whole;
      const auto at = static_cast<size_t>(rng.below(static_cast<int64_t>(whole.size())));
      if (i % 3 == 0) damaged.resize(at);
      if (i % 3 == 1) damaged[at] = "{}[]\",:019ax-\xff"[rng.below(14)];
      if (i % 3 == 2) damaged.erase(at, 1 + static_cast<size_t>(rng.below(8)));
      const Json json = Json::parse(damaged, nullptr, false);
      try {
        for (const TokenizerEntry& reader : tokenizers()) {
          const auto read = reader.read(json);
          Ids ids;
          if (read) read->encode("aa ab", ids);
          if (read) read->decode(ids);
        }
      } catch (const Error& error) {
        EXPECT_GT(std::string(error.what()).size(), 10u);
      }
    }
  }
}

}  // namespace
}  // namespace heed::data
