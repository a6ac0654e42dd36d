#include "heed/base/utf8.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "tests/support/python.h"

namespace heed {
namespace {

const std::string kReplaced = "\xEF\xBF\xBD";

std::string whole(std::string_view bytes) {
  Utf8Stream stream;
  const std::string out = stream.push(bytes);
  return out + stream.finish();
}

TEST(Utf8, ValidTextStays) {
  for (const std::string text : {"", "plain",
                                 "Stra\xC3\x9F"
                                 "e",
                                 "\xE2\x82\xAC 5", "\xF0\x9F\x98\x80!", "\xF4\x8F\xBF\xBF", "\xEE\x80\x80",
                                 "\xED\x9F\xBF", "\xE0\xA0\x80", "\xC2\x80"})
    EXPECT_EQ(whole(text), text);
  EXPECT_EQ(whole(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Utf8, TheRestOfACharacterWaits) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.push("\x98"), "");
  EXPECT_EQ(stream.push(""), "");
  EXPECT_EQ(stream.push("\x80z\xC3"), "\xF0\x9F\x98\x80z");
  EXPECT_EQ(stream.finish(), kReplaced);
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.push("\xA9"), kReplaced) << "nothing of the text before may be left";
}

TEST(Utf8, WhatCannotBeTextIsReplacedAtOnce) {
  struct Case {
    const char* what;
    std::string bytes;
    int replacements;
  };
  const std::vector<Case> cases = {
      {"stray continuation", "\x80", 1},           {"never used", "\xFF\xFE\xF5", 3},
      {"overlong of two", "\xC0\xAF\xC1\xBF", 4},  {"overlong of three", "\xE0\x9F\xBF", 3},
      {"overlong of four", "\xF0\x8F\xBF\xBF", 4}, {"surrogate", "\xED\xA0\x80", 3},
      {"beyond the last", "\xF4\x90\x80\x80", 4},
  };
  for (const Case& wrong : cases) {
    std::string expected = "a";
    for (int i = 0; i < wrong.replacements; ++i) expected += kReplaced;
    Utf8Stream stream;
    EXPECT_EQ(stream.push("a" + wrong.bytes + "b"), expected + "b") << wrong.what;
  }
  // Cut short by another character: one replacement for what was there.
  EXPECT_EQ(whole("\xF0\x9F\x98z"), kReplaced + "z");
  EXPECT_EQ(whole("\xE2\x82\xE2\x82\xAC"), kReplaced + "\xE2\x82\xAC");
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    for (const int shift : {4, 0})
      out += "0123456789abcdef"[(static_cast<unsigned char>(byte) >> shift) & 15];
  }
  return out;
}

// Mostly pieces of characters, so that random bytes are often nearly right.
std::string random_bytes(Rng& rng) {
  static const std::string likely =
      "a\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF";
  std::string bytes;
  for (int64_t n = rng.below(24); n > 0; --n) {
    if (rng.below(8) == 0)
      bytes += static_cast<char>(rng.below(256));
    else if (rng.below(3) == 0)
      bytes += static_cast<char>(0x80 + rng.below(64));
    else
      bytes += likely[static_cast<size_t>(rng.below(static_cast<int64_t>(likely.size())))];
  }
  return bytes;
}

TEST(Utf8, RandomPiecesOfRandomBytesAreAsPythonSays) {
  const TemporaryFolder folder;
  const std::string file = folder / "cases";
  std::vector<std::string> cases;
  Rng rng(7);
  std::ofstream out(file);
  for (int i = 0; i < 20000; ++i) {
    cases.push_back(random_bytes(rng));
    out << hex(cases.back()) << "\n";
  }
  out.close();
  const test::PythonResult python = test::run_python("utf8.py '" + file + "'");
  HEED_NEEDS_ORACLE(python.missing());
  ASSERT_EQ(python.code, 0) << python.output;

  std::ifstream answers(file + ".out");
  for (const std::string& bytes : cases) {
    std::string expected;
    ASSERT_TRUE(std::getline(answers, expected));
    Utf8Stream stream;
    std::string got;
    for (size_t at = 0; at < bytes.size();) {
      const auto n = static_cast<size_t>(rng.below(4));
      const std::string piece = stream.push(std::string_view(bytes).substr(at, n));
      EXPECT_EQ(whole(piece), piece) << "every piece is valid by itself";
      got += piece;
      at += n;
    }
    ASSERT_EQ(hex(got + stream.finish()), expected) << hex(bytes);
  }
}

}  // namespace
}  // namespace heed
