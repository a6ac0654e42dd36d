#include "heed/data/token_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "heed/base/files.h"
#include "heed/base/hash.h"
#include "heed/base/philox.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "tests/data/support.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;

std::string random_text(size_t size, uint64_t seed) {
  Rng rng(seed);
  std::string text;
  while (text.size() < size) {
    text.append(static_cast<size_t>(1 + rng.below(9)), static_cast<char>('a' + rng.below(26)));
    text += rng.below(8) == 0 ? '\n' : ' ';
  }
  text.resize(size);
  return text;
}

std::vector<int32_t> tokens_of(const TokenStream& stream) {
  std::vector<int32_t> tokens(static_cast<size_t>(stream.size()));
  stream.copy(0, stream.size(), tokens.data());
  return tokens;
}

// What the tokenizer makes of each slice when it gets it whole.
std::vector<int32_t> expected(const Part& part, const Tokenizer& tokenizer) {
  std::vector<int32_t> tokens;
  for (const TextSlice& slice : part.slices) tokenizer.encode(slice.text, tokens);
  return tokens;
}

std::string content(const fs::path& path) { return std::string(MappedFile(path).text()); }

TEST(TokenStream, EqualsTheTokensOfTheWholeText) {
  const ScratchFolder folder;
  const std::vector<std::string> texts = {"a", "a b\n", random_text(1 << 20, 1),
                                          random_text((1 << 20) + 1, 2), random_text(2'654'321, 3)};
  for (const std::string& text : texts) {
    const Corpus corpus = open_corpus(folder.write("news/news.en-00001-of-00100", text).parent_path());
    const Part& part = corpus.part(Split::kTrain);
    const FakeBytes small, limit(65536), large(65537);
    const FakeWords words;
    for (const Tokenizer* tokenizer : std::vector<const Tokenizer*>{&small, &limit, &large, &words}) {
      const TokenStream stream(part, *tokenizer, folder.path() / "cache/deep");
      EXPECT_EQ(tokens_of(stream), expected(part, *tokenizer)) << text.size() << " " << tokenizer->size();
      EXPECT_EQ(stream.counts().bytes, static_cast<int64_t>(text.size()));
      EXPECT_EQ(stream.end(), tokenizer->end());
      EXPECT_EQ(stream.name(), part.name);
      const auto bytes = static_cast<int64_t>(fs::file_size(stream.file()));
      const int64_t width = tokenizer->size() <= 65536 ? 2 : 4;
      EXPECT_GE(bytes, stream.size() * width);
      EXPECT_LE(bytes, stream.size() * width + 100);
    }
  }
}

TEST(TokenStream, CopiesAnyRange) {
  const ScratchFolder folder;
  for (const int64_t size : {256, 70000}) {
    const FakeBytes tokenizer(size);
    const Corpus corpus = open_corpus(folder.write("enwik8", random_text(1000, 4)));
    const TokenStream stream(corpus.part(Split::kTrain), tokenizer, folder.path());
    const std::vector<int32_t> all = expected(corpus.part(Split::kTrain), tokenizer);
    for (const auto& [begin, count] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {0, 1}, {3, 17}, {899, 1}, {900, 0}}) {
      std::vector<int32_t> out(static_cast<size_t>(count) + 1, -7);
      stream.copy(begin, count, out.data());
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(out[static_cast<size_t>(i)], all[static_cast<size_t>(begin + i)]);
      EXPECT_EQ(out.back(), -7);
    }
    std::vector<int32_t> out(2);
    EXPECT_THROW(stream.copy(899, 2, out.data()), AssertionFailed);
    EXPECT_EQ(tokens_of(stream), all);
  }
}

TEST(TokenStream, KnowsWhereThePiecesEnd) {
  const ScratchFolder folder;
  folder.write("news.en-00001-of-00100", "a b\nc\n");
  folder.write("news.en-00002-of-00100", "d");
  folder.write("news.en-00003-of-00100", "\n\n");
  const Corpus corpus = open_corpus(folder.path());
  const TokenStream stream(corpus.part(Split::kTrain), FakeWords(), folder.path());
  EXPECT_EQ(std::vector<int64_t>(stream.slice_ends().begin(), stream.slice_ends().end()),
            (std::vector<int64_t>{5, 6, 8}));
}

TEST(TokenStream, AWordLongerThanABlockStaysWhole) {
  const ScratchFolder folder;
  const Corpus corpus =
      open_corpus(folder.write("enwik8", std::string(5'000'000, 'x') + " end of it"), "enwik8");
  const FakeWords words;
  const TokenStream stream(corpus.part(Split::kTrain), words, folder.path());
  EXPECT_EQ(tokens_of(stream), expected(corpus.part(Split::kTrain), words));
  EXPECT_EQ(stream.size(), 1);
}

TEST(TokenStream, ThreadsDoNotChangeTheFile) {
  const ScratchFolder folder;
  const Corpus corpus = open_corpus(folder.write("a.txt", random_text(4'000'000, 5)));
  const int before = thread_count();
  std::vector<std::string> files;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const TokenStream stream(corpus.part(Split::kTrain), FakeWords(),
                             folder.path() / std::to_string(threads));
    files.push_back(content(stream.file()));
  }
  set_thread_count(before);
  EXPECT_TRUE(files[0] == files[1]);
  EXPECT_TRUE(files[0] == files[2]);
}

TEST(TokenStream, IsMadeOnceAndAgainWhenSomethingChanged) {
  const ScratchFolder folder;
  const fs::path cache = folder.path() / "cache";
  const FakeBytes tokenizer;
  const auto open = [&](const std::string& text, const Tokenizer& with) {
    const Corpus corpus = open_corpus(folder.write("enwik8", text));
    const TokenStream stream(corpus.part(Split::kTrain), with, cache);
    EXPECT_EQ(tokens_of(stream), expected(corpus.part(Split::kTrain), with));
  };
  open("some text, long enough", tokenizer);
  tokenizer.encoded = 0;
  open("some text, long enough", tokenizer);
  const int64_t by_the_test = 19;  // 90% of 22
  EXPECT_EQ(tokenizer.encoded, by_the_test);
  open("other text, long enough", tokenizer);  // 23: 20 more for the cache, 20 for the test
  EXPECT_EQ(tokenizer.encoded, by_the_test + 40);
  const FakeBytes other(300);
  open("some text, long enough", other);
  EXPECT_EQ(other.encoded, 2 * by_the_test);
}

TEST(TokenStream, EveryDamageIsFoundAndMended) {
  const ScratchFolder folder;
  const Corpus corpus = open_corpus(folder.write("enwik8", random_text(20, 6)));
  const Part& part = corpus.part(Split::kTrain);
  const FakeBytes tokenizer;
  const fs::path path = TokenStream(part, tokenizer, folder.path()).file();
  const std::string good = content(path);
  std::vector<std::string> bad;
  for (size_t i = 0; i < good.size(); ++i) {
    bad.push_back(good);
    bad.back()[i] = static_cast<char>(bad.back()[i] ^ 1 << i % 8);
    if (i % 5 == 0) bad.push_back(good.substr(0, i));
  }
  bad.push_back(good + "x");
  bad.push_back(good + good);
  bad.push_back(std::string(good.size(), '\0'));
  // What stands behind the tokens changed by somebody who knows the checksum; only the number of unknown
  // words does not follow from the rest.
  const size_t checked = good.size() - sizeof(uint64_t), believed = checked - sizeof(int64_t),
               behind_tokens = believed - 8 * sizeof(int64_t) - sizeof(int64_t);
  for (size_t bit = 8 * behind_tokens; bit < 8 * believed; ++bit) {
    std::string forged = good.substr(0, checked);
    forged[bit / 8] = static_cast<char>(forged[bit / 8] ^ 1 << bit % 8);
    const uint64_t checksum = hash_bytes(forged);
    bad.push_back(forged.append(reinterpret_cast<const char*>(&checksum), sizeof checksum));
  }
  // A whole and sound file, but of another text.
  const Corpus foreign = open_corpus(folder.write("enwik8-2", random_text(20, 7)));
  bad.push_back(content(TokenStream(foreign.part(Split::kTrain), tokenizer, folder.path()).file()));
  for (size_t i = 0; i < bad.size(); ++i) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bad[i];
    const int64_t before = tokenizer.encoded;
    const TokenStream stream(part, tokenizer, folder.path());
    EXPECT_GT(tokenizer.encoded, before) << "damage " << i << " was not found";
    EXPECT_EQ(content(path), good) << i;
    EXPECT_EQ(tokens_of(stream), expected(part, tokenizer)) << i;
  }
}

TEST(TokenStream, CountsWordsThatTheVocabularyLacks) {
  const ScratchFolder folder;
  TokenizerSpec spec;
  spec.kind = "words", spec.vocabulary = 5;  // <eos>, <unk>, the, cat, sat
  const auto tokenizer = learn_tokenizer(
      spec, [](const auto& take) { take("the the the the cat cat cat sat sat <unk> <unk> <unk> <unk>\n"); });
  // <unk> in the text is a word like any other: nothing is lost.
  const std::string line = "the cat sat on the <unk>\n";
  std::string text;
  for (int i = 0; i < 50000; ++i) text += line;  // more than a block
  const Corpus corpus = open_corpus(folder.write("some.txt", text), "whole");
  for (int again = 0; again < 2; ++again) {  // made, then read
    const TextCounts counts = TokenStream(corpus.part(Split::kTest), *tokenizer, folder.path()).counts();
    EXPECT_EQ(counts.tokens, 50000 * 7);
    EXPECT_EQ(counts.unknown, 50000);
    EXPECT_EQ(counts.bytes, static_cast<int64_t>(text.size()));
  }
}

TEST(TextCounts, BitsPerByteAreForTextsOfKnownWords) {
  const TextCounts known{1000, 5000, 0}, trace{1000, 5000, 1}, many{1000, 5000, 2};
  EXPECT_DOUBLE_EQ(known.bits_per_byte(std::log(2.0)).value(), 0.2);
  EXPECT_DOUBLE_EQ(trace.bits_per_byte(std::log(2.0)).value(), 0.2);
  EXPECT_FALSE(many.bits_per_byte(std::log(2.0)));
  EXPECT_EQ(many.unknown_words(), "0.20% of the tokens are unknown words");
  EXPECT_EQ(many.what_is_missing(), many.unknown_words());
  const TextCounts folded{1000, 5000, 0, true};
  EXPECT_FALSE(folded.bits_per_byte(1));
  EXPECT_EQ(folded.what_is_missing(), "capital letters and accents are not in the tokens");
  EXPECT_FALSE(TextCounts().bits_per_byte(1));
}

TEST(TokenStream, LeavesNothingBehindWhenItFails) {
  const ScratchFolder folder;
  const fs::path cache = folder.path() / "cache";
  std::string text(3 << 20, 'a');
  text[2 << 20] = '\x7f';
  const Corpus corpus = open_corpus(folder.write("a.txt", text));
  expect_error([&] { TokenStream(corpus.part(Split::kTrain), FakeBytes(), cache); }, ErrorKind::kUsage,
               "the train part of '" + corpus.name() + "': no token for 0x7f");
  EXPECT_TRUE(fs::is_empty(cache));
  expect_error([&] { TokenStream(corpus.part(Split::kValid), FakeBytes(), folder.path() / "a.txt"); },
               ErrorKind::kSystem, "cannot be created");
}

TEST(TokenStream, TellsItsProgress) {
  const ScratchFolder folder;
  const Corpus corpus = open_corpus(folder.write("enwik8", random_text(4'000'000, 8)));
  int64_t last = 0;
  const TokenStream stream(corpus.part(Split::kTrain), FakeBytes(), folder.path(),
                           [&](int64_t done, int64_t all) {
                             EXPECT_GT(done, last);
                             EXPECT_EQ(all, 3'600'000);
                             last = done;
                           });
  EXPECT_EQ(last, 3'600'000);
}

#if !defined(__SANITIZE_ADDRESS__)
void exit_0_if_a_large_text_needs_little() {
  const ScratchFolder folder;
  {
    const std::string block = random_text(1 << 20, 9);
    std::ofstream out(folder.path() / "enwik8", std::ios::binary);
    for (int i = 0; i < 100; ++i) out << block;
  }
  const int64_t before = peak_resident_bytes();
  const Corpus corpus = open_corpus(folder.path() / "enwik8");
  const TokenStream stream(corpus.part(Split::kTrain), FakeBytes(), folder.path());
  std::array<int32_t, 100> tokens;  // of many sequences side by side
  for (int64_t row = 0; row < 500; ++row) stream.copy(row * (stream.size() / 500), 100, tokens.data());
  const auto needed = static_cast<double>(peak_resident_bytes() - before);
  std::fprintf(stderr, "%.1f MB for %lld tokens\n", needed * 1e-6, static_cast<long long>(stream.size()));
  fs::remove_all(folder.path());
  std::exit(stream.size() > 90'000'000 && needed < 40e6 ? 0 : 1);
}

// In a process of its own, because the peak counts from its start.
TEST(TokenStreamDeathTest, ALargeTextNeedsLittleMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_0_if_a_large_text_needs_little(), ::testing::ExitedWithCode(0), "");
}
#endif

// One token per word and per line end, as the sets' own counts are made.
TEST(RealData, WikitextHasTheKnownNumberOfTokens) {
  const char* data = std::getenv("HEED_TEST_DATA");
  if (!data) GTEST_SKIP() << "HEED_TEST_DATA is not set";
  const ScratchFolder folder;
  fs::path path = fs::path(data) / "wikitext-2";
  if (!fs::exists(path)) {
    const fs::path archive = path.string() + ".tar.xz";
    if (!fs::exists(archive)) GTEST_SKIP() << archive << " is not there";
    ASSERT_EQ(
        std::system(("tar -xJf '" + archive.string() + "' -C '" + folder.path().string() + "'").c_str()), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (entry.path().filename() == "train.txt") path = entry.path().parent_path();
    }
  }
  const Corpus corpus = open_corpus(path, "wikitext");
  for (const auto& [split, count] :
       {std::pair{Split::kTrain, 2'088'628}, {Split::kValid, 217'646}, {Split::kTest, 245'569}}) {
    EXPECT_EQ(TokenStream(corpus.part(split), FakeWords(), folder.path()).size(), count);
  }
}

}  // namespace
}  // namespace heed::data
