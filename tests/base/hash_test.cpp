#include "heed/base/hash.h"

#include <gtest/gtest.h>

#include <numeric>

namespace heed {
namespace {

// Answers of the reference library (libxxhash).
TEST(Hash, KnownAnswers) {
  EXPECT_EQ(hash_bytes(""), 0xef46db3751d8e999);
  EXPECT_EQ(hash_bytes("abc"), 0x44bc2cf5ad770999);
  std::string bytes(200, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  const std::string_view view = bytes;
  EXPECT_EQ(hash_bytes(view.substr(0, 31)), 0xc346d2b59b4d8ee1);
  EXPECT_EQ(hash_bytes(view.substr(0, 32)), 0xcbf59c5116ff32b4);
  EXPECT_EQ(hash_bytes(view, 1), 0x20bd094800cb1dfa);
}

TEST(Hash, NameHasAllDigits) {
  EXPECT_EQ(hash_name(0), "0000000000000000");
  EXPECT_EQ(hash_name(0xef46db3751d8e999), "ef46db3751d8e999");
}

}  // namespace
}  // namespace heed
