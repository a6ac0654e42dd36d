#include "heed/train/tasks.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/files.h"
#include "heed/model/heads.h"
#include "heed/train/training.h"
#include "tests/support/messages.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using test::message_of;
using test::small_model;

TEST(Tasks, EachTrainsAHeadThatExists) {
  for (const train::Task& task : train::tasks()) EXPECT_EQ(model::heads().find(task.head).name, task.head);
}

TEST(Tasks, WhatCannotBeTrainedIsRefusedBeforeTheTextIsRead) {
  spec::TrainingSpec training;
  training.task = "next-tokens";
  const spec::ModelSpec model = small_model("gpt2", "sf");
  EXPECT_EQ(message_of([&] { train::build_training_graph(model, training); }),
            "unknown task 'next-tokens'; did you mean 'next-token'? Known: next-token");
  spec::ModelSpec other = model;
  other.head.kind = "labels";
  EXPECT_EQ(
      message_of([&] { train::build_training_graph(other, {}); }),
      "training: the task next-token trains the head next-token, the model has labels; give the model's "
      "head or another task");
}

// 51 tokens in two streams: 24 are predicted in each.
TEST(Tasks, AnEpochEndsWithAShortSegmentIfAsked) {
  const TemporaryFolder folder;
  std::ofstream(folder / "train.txt") << std::string(25, 'a') + std::string(26, 'b');
  spec::Recipe recipe;
  recipe.data.tokenizer = "bytes";
  recipe.training.batch = 2, recipe.training.length = 10;
  const auto open = [&] {
    return train::open_tokens(recipe.data, folder / "train.txt", "", folder / "cache");
  };
  const train::CorpusTokens text = open();
  const int64_t predicted = text.stream(data::Split::kTrain).size() / 2 - 1;
  const train::Task& task = train::task_of(recipe.model, recipe.training);
  const auto counted = [&] {
    const auto batches = task.training_batches(recipe, text);
    std::vector<int32_t> tokens(20), targets(20);
    int64_t all = 0;
    for (int64_t step = 0; step < batches->segments(); ++step)
      all += batches->fill(step, 0, {tokens, targets}).counted;
    return all;
  };
  EXPECT_NE(predicted % 10, 0);
  EXPECT_EQ(counted(), 2 * (predicted - predicted % 10));
  recipe.training.short_segment = true;
  validate(recipe.training);
  EXPECT_EQ(counted(), 2 * predicted);
  // The padding behind it would be remembered; sentences have no end to be kept.
  recipe.training.restart_memory = false;
  EXPECT_NE(message_of([&] { validate(recipe.training); }).find("restart_memory"), std::string::npos);
  recipe.training.restart_memory = true;
  recipe.data.tokenizer = "lm1b";
  std::ofstream(folder / "train.txt") << "a a a\nb b b\n";
  EXPECT_NE(message_of([&] { task.training_batches(recipe, open()); }).find("short_segment"),
            std::string::npos);
}

TEST(Tasks, EmbeddingsStacksAndHeadsAreFoundByName) {
  graph::Graph graph;
  spec::ModelSpec model = small_model("gpt2", "sf");
  model.embedding.kind = "token";
  EXPECT_EQ(message_of([&] { model::build(graph, model, {}); }),
            "unknown embedding 'token'; did you mean 'tokens'? Known: bert, tokens");
  model.embedding.kind = "tokens", model.head.kind = "labels";
  EXPECT_EQ(message_of([&] { model::build(graph, model, {}); }),
            "unknown head 'labels'. Known: bert, hidden, masked-token, next-token");
  model.head.kind = "next-token", model.stack = "encode";
  EXPECT_EQ(message_of([&] { model::build(graph, model, {}); }),
            "unknown stack 'encode'; did you mean 'encoder'? Known: decoder, encoder");
}

}  // namespace
}  // namespace heed
