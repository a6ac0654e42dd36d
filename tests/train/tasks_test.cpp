#include "heed/train/tasks.h"

#include <gtest/gtest.h>

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

TEST(Tasks, EmbeddingsStacksAndHeadsAreFoundByName) {
  graph::Graph graph;
  spec::ModelSpec model = small_model("gpt2", "sf");
  model.embedding.kind = "token";
  EXPECT_EQ(message_of([&] { model::build(graph, model, {}); }),
            "unknown embedding 'token'; did you mean 'tokens'? Known: tokens");
  model.embedding.kind = "tokens", model.head.kind = "labels";
  EXPECT_EQ(message_of([&] { model::build(graph, model, {}); }), "unknown head 'labels'. Known: next-token");
  model.head.kind = "next-token", model.stack = "encode";
  EXPECT_EQ(message_of([&] { model::build(graph, model, {}); }), "unknown stack 'encode'. Known: decoder");
}

}  // namespace
}  // namespace heed
