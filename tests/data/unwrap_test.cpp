#include "heed/data/unwrap.h"

#include <gtest/gtest.h>

#include "tests/data/support.h"

namespace heed::data {
namespace {

std::string unwrapped(std::string_view text) {
  std::string all;
  unwrap(text, [&](std::string_view piece) { all += piece; });
  return all;
}

TEST(Unwrap, JoinsTheLinesOfAParagraph) {
  EXPECT_EQ(unwrapped("It was the best\nof times, it was\nthe worst.\n\nThere were\na king.\n"),
            "It was the best of times, it was the worst.\n\nThere were a king.\n");
  EXPECT_EQ(unwrapped("one\r\ntwo  \r\n\r\nthree\r\n"), "one two  \r\n\r\nthree\r\n");
  EXPECT_EQ(unwrapped("one \t\ntwo"), "one two");
  EXPECT_EQ(unwrapped(""), "");
  EXPECT_EQ(unwrapped("\n\n\na\n \nb"), "\n\n\na\n \nb");
  EXPECT_EQ(unwrapped("a"), "a");
}

TEST(Unwrap, KeepsVerseListsAndIndentedParagraphs) {
  const std::string verse = "he sang:\n  Tiger, tiger,\n  burning bright\n\tin the forests\n";
  EXPECT_EQ(unwrapped(verse), verse);
  EXPECT_EQ(unwrapped("end.\n  A new\nparagraph\n"), "end.\n  A new paragraph\n");
  const std::string list = "- one\n- two\n* three\n+ four\n1. five\n12) six\n";
  EXPECT_EQ(unwrapped(list), list);
  EXPECT_EQ(unwrapped("in\n1984 and\n3.5 or\n-1 degrees\n"), "in 1984 and 3.5 or -1 degrees\n");
}

TEST(Unwrap, OfACorpusLeavesItsFilesAlone) {
  const ScratchFolder folder;
  std::string text, expected;
  for (int i = 0; i < 200; ++i)
    text += "a line of words\nand one more\n\n", expected += "a line of words and one more\n\n";
  const auto path = folder.write("book.txt", text);
  const Corpus corpus = open_corpus(path, "auto", true);
  std::string all;
  for (const Split split : kSplits) {
    for (const TextSlice& slice : corpus.part(split).slices) all += slice.text;
  }
  EXPECT_EQ(all, expected);
  EXPECT_EQ(MappedFile(path).text(), text);
  EXPECT_NE(corpus.part(Split::kTrain).hash(), open_corpus(path).part(Split::kTrain).hash());
}

}  // namespace
}  // namespace heed::data
