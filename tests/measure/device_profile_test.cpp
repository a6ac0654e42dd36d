// Names of pieces: made, and read back.
#include "heed/measure/device_profile.h"

#include <gtest/gtest.h>

#include "tests/support/small_models.h"

namespace heed::measure {
namespace {

TEST(PieceKey, IsReadBack) {
  std::vector<spec::ModelSpec> models;
  for (const spec::Backbone& backbone : spec::backbones()) {
    models.push_back(backbone.settings());
    models.push_back(test::small_model(backbone.name, "(sf)x2"));
    models.push_back(models.back());
    models.back().arch = "i", models.back().width = 24, models.back().sizes["heads"] = {3};
    models.back().embedding.width = 12, models.back().embedding.vocabulary = 77;
  }
  std::set<std::string> keys;
  for (const spec::ModelSpec& model : models) {
    for (const Work& work : {Work{1}, Work{192}, Work{192, true}}) {
      const std::string key = piece_key(model, work);
      const Piece piece = piece_of(key);
      EXPECT_EQ(to_json(piece.model), to_json(model)) << key;
      EXPECT_EQ(piece.work.length, work.length) << key;
      EXPECT_EQ(piece.work.step, work.step) << key;
      EXPECT_EQ(piece_key(piece.model, piece.work), key);
      keys.insert(key);
    }
  }
  EXPECT_EQ(keys.size(), 3 * models.size());
}

TEST(PieceKey, WhatIsNoneIsTold) {
  for (const char* key :
       {"", "a", "[1]", "{}", R"({"backbone": "gpt2"})", R"({"backbone": "none", "length": 1})",
        R"({"backbone": "gpt2", "length": "1"})", R"({"backbone": "gpt2", "length": 1, "wings": 2})",
        R"({"backbone": "gpt2", "length": 1, "width": "wide"})"})
    EXPECT_THROW(piece_of(key), Error) << key;
}

}  // namespace
}  // namespace heed::measure
