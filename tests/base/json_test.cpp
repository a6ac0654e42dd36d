#include "heed/base/json.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"

namespace heed {
namespace {

std::string refused(const std::string& text) {
  return test::message_of([&] { parse_json(text); });
}

TEST(Json, IsReadAsItIs) {
  EXPECT_EQ(parse_json(R"({"a": [1, "]]\"[[\\"], "b": null})"),
            (Json{{"a", {1, "]]\"[[\\"}}, {"b", nullptr}}));
}

TEST(Json, WhatIsWrongIsPlaced) {
  EXPECT_EQ(refused(""), "not JSON: syntax error at line 1, column 1");
  EXPECT_EQ(refused("{\n  \"a\": x}"), "not JSON: syntax error at line 2, column 8");
  EXPECT_EQ(refused(std::string("{}\0", 3)), "not JSON: a zero byte at line 1, column 3");
  EXPECT_EQ(refused("[1e999]"), "not JSON: number overflow parsing '1e999'");
}

// Values are shown and copied by recursion: a file of brackets must not end in a stack that is used up.
TEST(Json, BracketsWithinBracketsHaveALimit) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_EQ(parse_json(nested(kDeepestJson)).dump(), nested(kDeepestJson));
  for (const int depth : {kDeepestJson + 1, 1000000}) {
    EXPECT_EQ(refused(nested(depth)), "JSON with more than 200 nested brackets, at line 1, column 201");
  }
  EXPECT_EQ(parse_json(Json(nested(1000000)).dump()).get<std::string>(), nested(1000000));  // in a string
}

}  // namespace
}  // namespace heed
