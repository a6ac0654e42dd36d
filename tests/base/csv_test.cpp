#include "heed/base/csv.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"

namespace heed {
namespace {

using test::message_of;

TEST(Csv, ReadsQuotedCells) {
  const Csv csv("\xEF\xBB\xBFid,list,note\r\na,\"[1, 2]\",\"says \"\"no\"\"\"\r\n\nb,,\"two\nlines\"\nc,3,",
                "t");
  ASSERT_EQ(csv.rows(), 3u);
  EXPECT_EQ(csv.columns(), (std::vector<std::string>{"id", "list", "note"}));
  EXPECT_EQ(csv.at(0, "list"), "[1, 2]");
  EXPECT_EQ(csv.at(0, "note"), "says \"no\"");
  EXPECT_EQ(csv.at(1, "list"), "");
  EXPECT_EQ(csv.at(1, "note"), "two\nlines");
  EXPECT_EQ(csv.integer(2, "list"), 3);
  EXPECT_EQ(csv.at(2, "note"), "");
  EXPECT_EQ(csv.at(2, "no such column"), "");
  EXPECT_FALSE(csv.has("no such column"));
  EXPECT_EQ(csv.place(0), "t: line 2");
  EXPECT_EQ(csv.place(1), "t: line 4");
  EXPECT_EQ(csv.place(2), "t: line 6");
}

TEST(Csv, RefusesWhatIsNoTable) {
  const auto refused = [](const std::string& text) { return message_of([&] { Csv(text, "t.csv"); }); };
  EXPECT_EQ(refused(""), "t.csv is empty; its first line must name the columns");
  EXPECT_EQ(refused("\n\r\n"), "t.csv is empty; its first line must name the columns");
  EXPECT_EQ(refused("a,b,a\n"), "t.csv has two columns 'a'");
  EXPECT_EQ(refused("a,b\n1,2\n\n3\n"), "t.csv: line 4 has 1 cells; the first line names 2 columns");
  EXPECT_EQ(refused("a,b\n1,\"2\n3\n"), "t.csv: the quote that opens in line 2 is never closed");
  EXPECT_EQ(refused("a,b\n1,\"2\"3\n"), "t.csv: line 2 continues after a closing quote without a comma");
  EXPECT_EQ(refused("a,b\n1,2\"3\n"), "t.csv: line 2 has a quote inside a plain cell");
}

TEST(Csv, RefusesWhatIsNoNumber) {
  const Csv csv("a,b,c,d\n1.5,x,nan,9223372036854775808\n", "t");
  EXPECT_EQ(csv.number(0, "a"), 1.5);
  EXPECT_EQ(message_of([&] { csv.integer(0, "a"); }), "t: line 2: a is '1.5'; it must be a whole number");
  EXPECT_EQ(message_of([&] { csv.number(0, "b"); }), "t: line 2: b is 'x'; it must be a number");
  EXPECT_EQ(message_of([&] { csv.number(0, "c"); }), "t: line 2: c is 'nan'; it must be a number");
  EXPECT_EQ(message_of([&] { csv.integer(0, "d"); }),
            "t: line 2: d is '9223372036854775808'; it must be a whole number");
}

TEST(Csv, WrittenCellsAreReadBack) {
  for (const std::string cell : {"plain", "a,b", "say \"no\"", "two\nlines", "", "[1, 2]"}) {
    const Csv csv("x,y\n" + csv_cell(cell) + ",1\n", "t");
    EXPECT_EQ(csv.at(0, "x"), cell);
  }
}

}  // namespace
}  // namespace heed
