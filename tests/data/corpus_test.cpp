#include "heed/data/corpus.h"

#include <gtest/gtest.h>

#include "heed/data/cut.h"
#include "heed/data/readers.h"
#include "tests/data/support.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> slices(const Corpus& corpus, Split split) {
  std::vector<std::string> texts;
  if (!corpus.has(split)) return texts;
  for (const TextSlice& slice : corpus.part(split).slices) texts.emplace_back(slice.text);
  return texts;
}

std::string joined(const Corpus& corpus, Split split) {
  std::string all;
  for (const std::string& text : slices(corpus, split)) all += text;
  return all;
}

// Numbered lines of `width` bytes each.
std::string lines(int count, size_t width) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string line = "line " + std::to_string(i);
    line.resize(width - 1, '.');
    text += line + "\n";
  }
  return text;
}

TEST(Cut, PrefersLineThenBlankThenCharacter) {
  EXPECT_EQ(cut_near("ab\ncd ef", 7, 7), 3u);
  EXPECT_EQ(cut_near("ab\ncd ef", 7, 3), 5u);  // the line end is out of reach
  EXPECT_EQ(cut_near("abcdef", 4, 4), 4u);
  EXPECT_EQ(cut_near("ab\xc3\xa4z", 3, 3), 2u);
  EXPECT_EQ(cut_near("abc", 3, 1), 3u);
  EXPECT_EQ(cut_near("abc", 9, 1), 3u);
  EXPECT_EQ(cut_near("", 9, 1), 0u);
  EXPECT_EQ(cut_near(" abcdef", 4, 4), 4u);  // never an empty part before it
  EXPECT_EQ(cut_near("\x80\x80\x80\x80\x80", 4, 2), 2u);
}

TEST(PlainReader, CutsAFileAtLineEnds) {
  const ScratchFolder folder;
  for (const int count : {40, 41, 99, 1000}) {
    const std::string text = lines(count, 24);
    const Corpus corpus = open_corpus(folder.write("a.txt", text));
    EXPECT_EQ(corpus.reader(), "plain");
    const std::string train = joined(corpus, Split::kTrain), valid = joined(corpus, Split::kValid),
                      test = joined(corpus, Split::kTest);
    EXPECT_EQ(train + valid + test, text);
    for (const std::string& part : {train, valid, test}) EXPECT_TRUE(part.ends_with("\n")) << count;
    EXPECT_NEAR(static_cast<double>(valid.size()), 24 * count * 0.05, 24.0);
    EXPECT_NEAR(static_cast<double>(test.size()), 24 * count * 0.05, 24.0);
    EXPECT_GE(test.size(), text.size() / 20);
  }
}

TEST(PlainReader, CutsTextWithoutLinesAnyway) {
  const ScratchFolder folder;
  const std::string text(1000, 'x');
  const Corpus corpus = open_corpus(folder.write("a", text));
  EXPECT_EQ(joined(corpus, Split::kTrain).size(), 900u);
  EXPECT_EQ(joined(corpus, Split::kValid).size(), 50u);
  EXPECT_EQ(joined(corpus, Split::kTest).size(), 50u);
}

TEST(PlainReader, ATextTooShortHasOnlyATrainPart) {
  const ScratchFolder folder;
  const Corpus corpus = open_corpus(folder.write("a.txt", "abc"));
  EXPECT_EQ(joined(corpus, Split::kTrain), "abc");
  EXPECT_FALSE(corpus.has(Split::kTest));
  expect_error([&] { corpus.part(Split::kTest); }, ErrorKind::kUsage, "has no test part, only train");
  expect_error([&] { corpus.text({Split::kTrain, Split::kValid}); }, ErrorKind::kUsage, "has no valid part");
}

TEST(WholeReader, TakesAllTextAsTheTestPart) {
  const ScratchFolder folder;
  const Corpus file = open_corpus(folder.write("a.txt", lines(100, 20)), "whole");
  EXPECT_EQ(file.reader(), "whole");
  EXPECT_EQ(joined(file, Split::kTest), lines(100, 20));
  EXPECT_FALSE(file.has(Split::kTrain) || file.has(Split::kValid));
  expect_error([&] { file.part(Split::kTrain); }, ErrorKind::kUsage, "has no train part, only test");
  EXPECT_EQ(joined(open_corpus(folder.write("one", "x"), "whole"), Split::kTest), "x");
  folder.write("train.txt", "named\n");
  folder.write("none.txt", "");
  folder.write("picture", std::string_view("\x89PNG\0\0", 6));
  const Corpus all = open_corpus(folder.path(), "whole");
  EXPECT_EQ(slices(all, Split::kTest), (std::vector<std::string>{lines(100, 20), "x", "named\n"}));
  EXPECT_EQ(all.notes().size(), 2u);
  const ScratchFolder pictures;
  pictures.write("picture", std::string_view("\x89PNG\0\0", 6));
  expect_error([&] { open_corpus(pictures.path(), "whole"); }, ErrorKind::kUsage, "picture' is not text");
  expect_error([&] { open_corpus(pictures.path() / "picture", "whole"); }, ErrorKind::kUsage, "is not text");
  expect_error([&] { open_corpus(folder.path() / "none.txt", "whole"); }, ErrorKind::kUsage, "is empty");
}

TEST(PlainReader, TakesNamedFiles) {
  for (const char* valid : {"valid.txt", "validation.txt", "dev.txt"}) {
    const ScratchFolder folder;
    folder.write("train.txt", "1\n");
    folder.write(valid, "2\n");
    folder.write("test.txt", "3\n");
    folder.write("wiki.test.raw", "not this\n");
    folder.write("notes.md", "nor this\n");
    const Corpus corpus = open_corpus(folder.path());
    EXPECT_EQ(corpus.reader(), "plain");
    EXPECT_EQ(joined(corpus, Split::kTrain), "1\n");
    EXPECT_EQ(joined(corpus, Split::kValid), "2\n");
    EXPECT_EQ(joined(corpus, Split::kTest), "3\n");
  }
  const ScratchFolder folder;
  folder.write("ptb.train.txt", "1\n");
  EXPECT_EQ(joined(open_corpus(folder.path()), Split::kTrain), "1\n");
}

TEST(PlainReader, TakesAllTextFilesOfAFolderInOrder) {
  const ScratchFolder folder;
  const std::string a = lines(30, 20), b = lines(50, 20), test = lines(20, 20);
  folder.write("b.txt", b);
  folder.write("a.md", a);
  folder.write("test.txt", test);
  folder.write(".hidden", "no");
  folder.write("logo.png", std::string_view("\x89PNG\0\0", 6));
  folder.write("none.txt", "");
  folder.write("deeper/c.txt", "no");
  const Corpus corpus = open_corpus(folder.path());
  EXPECT_EQ(joined(corpus, Split::kTrain) + joined(corpus, Split::kValid) + joined(corpus, Split::kTest),
            a + b + test);
  EXPECT_EQ(slices(corpus, Split::kTrain), (std::vector<std::string>{a, b, test.substr(0, 10 * 20)}));
  EXPECT_EQ(joined(corpus, Split::kTest).size(), 5u * 20);
  ASSERT_EQ(corpus.notes().size(), 2u);
  EXPECT_NE(corpus.notes()[0].find("logo.png"), std::string::npos);
  EXPECT_NE(corpus.notes()[1].find("none.txt"), std::string::npos);
}

TEST(Enwik8Reader, CutsByBytesInProportion) {
  const ScratchFolder folder;
  for (const size_t size : {1u, 19u, 20u, 100u, 101u, 4000u, 12345u}) {
    std::string text(size, '\n');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
    const Corpus corpus = open_corpus(folder.write("enwik8-part", text));
    EXPECT_EQ(corpus.reader(), "enwik8");
    EXPECT_EQ(joined(corpus, Split::kTrain), text.substr(0, size * 90 / 100));
    EXPECT_EQ(joined(corpus, Split::kValid), text.substr(size * 90 / 100, size * 95 / 100 - size * 90 / 100));
    EXPECT_EQ(joined(corpus, Split::kTest), text.substr(size * 95 / 100));
  }
}

TEST(Text8Reader, StripsEachPart) {
  const ScratchFolder folder;
  std::string text = " ";
  while (text.size() < 200) text += "abcd ";
  text.resize(200);
  text[179] = ' ', text[180] = ' ', text[190] = ' ';
  text[199] = '\n';
  const Corpus corpus = open_corpus(folder.write("text8", text));
  EXPECT_EQ(corpus.reader(), "text8");
  EXPECT_EQ(joined(corpus, Split::kTrain), text.substr(1, 178));
  EXPECT_EQ(joined(corpus, Split::kValid), text.substr(181, 9));
  EXPECT_EQ(joined(corpus, Split::kTest), text.substr(191, 8));
  expect_error([&] { open_corpus(folder.write("text8", std::string(300, ' '))); }, ErrorKind::kUsage,
               "only white space");
}

TEST(WikitextReader, TakesEitherNaming) {
  const ScratchFolder folder;
  folder.write("train.txt", "1\n"), folder.write("valid.txt", "2\n"), folder.write("test.txt", "3\n");
  EXPECT_EQ(joined(open_corpus(folder.path(), "wikitext"), Split::kValid), "2\n");
  folder.write("wiki.train.tokens", "4\n"), folder.write("wiki.valid.tokens", "5\n"),
      folder.write("wiki.test.tokens", "6\n");
  const Corpus corpus = open_corpus(folder.path());
  EXPECT_EQ(corpus.reader(), "wikitext");
  EXPECT_EQ(joined(corpus, Split::kTrain), "4\n");
  EXPECT_EQ(joined(corpus, Split::kTest), "6\n");
  const ScratchFolder evaluation;
  evaluation.write("wiki.test.tokens", "7\n");
  EXPECT_FALSE(open_corpus(evaluation.path()).has(Split::kTrain));
  const ScratchFolder empty;
  expect_error([&] { open_corpus(empty.path(), "wikitext"); }, ErrorKind::kUsage, "wiki.train.tokens");
  expect_error([&] { open_corpus(folder.path() / "train.txt", "wikitext"); }, ErrorKind::kUsage,
               "is not a folder");
}

TEST(Lm1bReader, TakesTheReleaseAndAFlatFolder) {
  for (const bool flat : {false, true}) {
    const ScratchFolder folder;
    const std::string training = flat ? "" : "training-monolingual.tokenized.shuffled/";
    const std::string held_out = flat ? "" : "heldout-monolingual.tokenized.shuffled/";
    folder.write(training + "news.en-00002-of-00100", "second\n");
    folder.write(training + "news.en-00001-of-00100", "first\n");
    folder.write(held_out + "news.en-00000-of-00100", "held out\n");
    folder.write(held_out + "news.en.heldout-00002-of-00050", "not used\n");
    folder.write(held_out + "news.en.heldout-00001-of-00050", "valid\n");
    folder.write(held_out + "news.en.heldout-00000-of-00050", "test\n");
    const Corpus corpus = open_corpus(folder.path());
    EXPECT_EQ(corpus.reader(), "lm1b");
    EXPECT_EQ(slices(corpus, Split::kTrain), (std::vector<std::string>{"first\n", "second\n"}));
    EXPECT_EQ(slices(corpus, Split::kValid), std::vector<std::string>{"valid\n"});
    EXPECT_EQ(slices(corpus, Split::kTest), std::vector<std::string>{"test\n"});
    EXPECT_EQ(corpus.notes().size(), flat ? 1u : 0u);
  }
  const ScratchFolder empty;
  expect_error([&] { open_corpus(empty.path(), "lm1b"); }, ErrorKind::kUsage, "news.en");
}

TEST(Corpus, RefusesWhatIsNoText) {
  const ScratchFolder folder;
  expect_error([&] { open_corpus(folder.path() / "missing"); }, ErrorKind::kUsage, "does not exist");
  expect_error([&] { open_corpus(folder.path()); }, ErrorKind::kUsage, "holds no text files");
  expect_error([&] { open_corpus(folder.path(), "enwik8"); }, ErrorKind::kUsage, "is a folder");
  expect_error([&] { open_corpus(folder.write("a.txt", "")); }, ErrorKind::kUsage, "is empty");
  expect_error([&] { open_corpus(folder.write("a.txt", "a"), "plian"); }, ErrorKind::kUsage,
               "did you mean 'plain'");
  expect_error([&] { open_corpus("/dev/null"); }, ErrorKind::kUsage, "is not a file");
  const auto binary = folder.write("b", std::string_view("text\0more", 9));
  expect_error([&] { open_corpus(binary); }, ErrorKind::kUsage, "NUL bytes");
  EXPECT_EQ(joined(open_corpus(binary, "enwik8"), Split::kTrain).size(), 8u);
  // Only a reader that was asked for by name takes any bytes.
  const auto packed = folder.write("enwik8.zip", std::string_view("PK\x03\x04\x14\0\0", 7));
  expect_error([&] { open_corpus(packed); }, ErrorKind::kUsage, "unzip");
  expect_error([&] { open_corpus(folder.write("x.xz", std::string_view("\xfd\x37zXZ\0..", 8))); },
               ErrorKind::kUsage, "xz -d");
  if (geteuid() != 0) {
    fs::permissions(folder.write("secret", "a"), fs::perms::none);
    expect_error([&] { open_corpus(folder.path() / "secret"); }, ErrorKind::kUsage, "cannot be read");
  }
}

TEST(Corpus, HashTellsTextsApart) {
  const ScratchFolder folder;
  std::string text(3'000'000, 'a');
  const auto hash = [&](Split split) { return open_corpus(folder.write("a", text)).part(split).hash(); };
  const uint64_t train = hash(Split::kTrain), valid = hash(Split::kValid);
  EXPECT_NE(train, valid);
  EXPECT_EQ(hash(Split::kTrain), train);
  for (const size_t at : {size_t{0}, size_t{1} << 20, size_t{2'699'999}}) {
    text[at] = 'b';
    EXPECT_NE(hash(Split::kTrain), train) << at;
    EXPECT_EQ(hash(Split::kValid), valid) << at;
    text[at] = 'a';
  }
  // The same bytes cut elsewhere are other tokens, also where the cut meets a block of the hash.
  const ScratchFolder one, two;
  const std::string block(1 << 20, 'a');
  one.write("news.en-00001-of-00100", block + block);
  two.write("news.en-00001-of-00100", block), two.write("news.en-00002-of-00100", block);
  EXPECT_NE(open_corpus(one.path()).part(Split::kTrain).hash(),
            open_corpus(two.path()).part(Split::kTrain).hash());
}

TEST(Corpus, GivesItsTextInParts) {
  const ScratchFolder folder;
  const std::string text = lines(200'000, 20);
  const Corpus corpus = open_corpus(folder.write("a.txt", text));
  std::string all;
  int calls = 0;
  corpus.text({Split::kTrain, Split::kTest})([&](std::string_view part) {
    EXPECT_LE(part.size(), 1u << 20);
    EXPECT_TRUE(part.ends_with('\n'));
    all += part;
    ++calls;
  });
  EXPECT_EQ(all, joined(corpus, Split::kTrain) + joined(corpus, Split::kTest));
  EXPECT_EQ(calls, 5);
  // Lines stay whole, however long.
  const std::string first(3 << 20, 'x'), second(2 << 20, 'y');
  const Corpus wide =
      open_corpus(folder.write("news.en-00001-of-00100", first + "\n" + second).parent_path(), "lm1b");
  std::vector<size_t> sizes;
  wide.text({Split::kTrain})([&](std::string_view part) { sizes.push_back(part.size()); });
  EXPECT_EQ(sizes, (std::vector<size_t>{first.size() + 1, second.size()}));
}

TEST(Corpus, MayBeMoved) {
  const ScratchFolder folder;
  Corpus first = open_corpus(folder.write("a.txt", lines(100, 20)));
  const std::string train = joined(first, Split::kTrain);
  const Corpus second = std::move(first);
  EXPECT_EQ(joined(second, Split::kTrain), train);
  second.part(Split::kTrain).slices[0].forget(0, train.size());
  EXPECT_EQ(joined(second, Split::kTrain), train);
}

TEST(Readers, ExplainThemselves) {
  for (const Reader& reader : readers()) EXPECT_FALSE(reader.meaning.empty()) << reader.name;
  EXPECT_EQ(readers().begin()->name, "auto");
}

}  // namespace
}  // namespace heed::data
