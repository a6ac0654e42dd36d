#include "heed/infer/stop_strings.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::infer {
namespace {

// What is shown of a text that arrives in these pieces.
std::string shown(std::vector<std::string> stops, const std::vector<std::string>& pieces) {
  StopStrings text(std::move(stops));
  std::string all;
  for (const std::string& piece : pieces) all += text.push(piece);
  if (text.found()) all += "|";
  return all + text.finish();
}

TEST(StopStrings, EndATextWhereverTheyAreCut) {
  const std::string text = "one two three";
  for (size_t a = 0; a <= text.size(); ++a) {
    for (size_t b = a; b <= text.size(); ++b)
      EXPECT_EQ(shown({"two", "ee"}, {text.substr(0, a), text.substr(a, b - a), text.substr(b)}), "one |");
  }
  EXPECT_EQ(shown({"three", "two"}, {text}), "one |");  // the first in the text, not in the list
  EXPECT_EQ(shown({}, {"one ", "two"}), "one two");
  EXPECT_EQ(shown({"twx"}, {"one tw", "o"}), "one two");
  EXPECT_EQ(shown({"two!"}, {"one ", "two"}), "one two");  // it was only the beginning of one
  EXPECT_EQ(shown({"aab"}, {"a", "a", "a", "b", "c"}), "a|");
}

TEST(StopStrings, ShowWhatCannotBelongToOne) {
  StopStrings text({"\n\n"});
  EXPECT_EQ(text.push("one\n"), "one");
  EXPECT_EQ(text.push("two"), "\ntwo");
  EXPECT_EQ(text.push("\n\nthree"), "");
  EXPECT_TRUE(text.found());
  EXPECT_EQ(text.push("more"), "");
  EXPECT_EQ(text.finish(), "");
  EXPECT_FALSE(text.found());
  EXPECT_EQ(text.push("next"), "next");
}

TEST(StopStrings, AreNotEmpty) { EXPECT_THROW(StopStrings({"a", ""}), Error); }

}  // namespace
}  // namespace heed::infer
