// Every rule that a description of a model, of a training or of an evaluation must keep.
#include "heed/spec/model_spec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "heed/spec/training_spec.h"
#include "tests/support/messages.h"

namespace heed::spec {
namespace {

// Each rule of validate once: what is set wrong, and what must be said.
TEST(ModelSpecErrors, EachRule) {
  const auto says = [](const std::function<void(ModelSpec&)>& spoil, const char* part,
                       const char* backbone = "gpt2") {
    ModelSpec spec = backbones().find(backbone).settings();
    validate(spec);
    spoil(spec);
    EXPECT_SAYS(validate(spec), part);
  };
  using S = ModelSpec;
  says([](S& s) { s.backbone = "gpt"; }, "did you mean 'gpt2'?");
  says([](S& s) { s.arch = "(sf"; }, "not closed");
  says([](S& s) { s.width = 0; }, "width is 0; it must be from 1 to 16777216");
  says([](S& s) { s.width = int64_t{1} << 40; }, "it must be from 1 to 16777216");
  says([](S& s) { s.embedding.context = -1; }, "context is -1");
  says([](S& s) { s.recurrence.heads = 0; }, "projection_heads is 0");
  says([](S& s) { s.attention.head_width = -64; }, "head_width is -64");
  says([](S& s) { s.sizes["heads"] = {0}; }, "heads is 0");
  says([](S& s) { s.sizes["heads"] = {}; }, "heads has 0 entries for 12 blocks of kind s");
  says([](S& s) { s.sizes["heads"] = {4, 4}; }, "heads has 2 entries for 12 blocks of kind s");
  says([](S& s) { s.sizes["inner"] = {4, 4, 4}; }, "inner has 3 entries for 12 blocks of kind f");
  says(
      [](S& s) {
        s.sizes["projection"] = {4, 4};
      },
      "projection has 2 entries for 10 blocks of kind ra", "sru++");
  says([](S& s) { s.sizes["heads"] = {7}; }, "width 768 is not a multiple of heads 7; try 763 or 770");
  says([](S& s) { s.sizes["heads"] = {1000}; }, "width 768 is not a multiple of heads 1000; try 1000");
  says([](S& s) { s.recurrence.heads = 3; }, "projection 128 is not a multiple of projection_heads 3",
       "sru++");
  says([](S& s) { s.embedding.vocabulary = 0; }, "vocabulary is 0");
  says([](S& s) { s.embedding.width = -1; }, "embedding_width is -1");
  says([](S& s) { s.embedding.division = 0; }, "division is 0");
  says([](S& s) { s.embedding.cutoffs = {40, 20}; }, "20 comes after 40");
  says([](S& s) { s.embedding.cutoffs = {0}; }, "0 comes after 0");
  says(
      [](S& s) {
        s.embedding.cutoffs = {10, 20, 30}, s.embedding.division = 100;
      },
      "choose a smaller division");
  says(
      [](S& s) {
        s.embedding.cutoffs = {10, 20, 30}, s.head.tie_projections = {true, false};
      },
      "tie_projections has 2 entries for 4 clusters");
  says([](S& s) { s.width = 511, s.sizes["heads"] = {7}; }, "width 511 is odd", "transformer-xl");
  says(
      [](S& s) {
        s.arch = "(sf)x2", s.sizes["heads"] = {2, 4}, s.attention.head_width = 64;
      },
      "blocks 0 and 2 have 128 and 256 columns of heads; set shared_position_bias to false",
      "transformer-xl");
  says([](S& s) { s.dropout = 1; }, "a dropout of 1 is not in [0, 1)");
  says([](S& s) { s.attention.dropout = -0.1; }, "a dropout of -0.1");
  says([](S& s) { s.embedding.dropout = std::nan(""); }, "a dropout of nan");
  says([](S& s) { s.epsilon = 0; }, "epsilon is 0");
  says([](S& s) { s.deviation = -1; }, "deviation is -1");
  says([](S& s) { s.recurrence.highway_bias = std::numeric_limits<double>::infinity(); },
       "highway_bias is inf");
}

TEST(ModelSpec, ListsMayBeOfAnyLengthWhereNoBlockReadsThem) {
  ModelSpec spec = backbones().find("sru++").settings();
  spec.sizes["heads"] = {3, 5}, spec.sizes["inner"] = {};
  EXPECT_NO_THROW(validate(spec));
}

TEST(ModelSpec, CutoffsBeyondTheVocabularyAreDropped) {
  using Ends = std::vector<int64_t>;
  ModelSpec spec;
  spec.embedding.cutoffs = {59997, 99997, 639997}, spec.embedding.division = 4;
  spec.embedding.vocabulary = 793470;
  EXPECT_EQ(spec.cluster_ends(), (Ends{59997, 99997, 639997, 793470}));
  spec.embedding.vocabulary = 267735;
  EXPECT_EQ(spec.cluster_ends(), (Ends{59997, 99997, 267735}));
  spec.embedding.vocabulary = 99997;
  EXPECT_EQ(spec.cluster_ends(), (Ends{59997, 99997}));
  spec.embedding.vocabulary = 50264;
  EXPECT_EQ(spec.cluster_ends(), (Ends{50264}));
  EXPECT_TRUE(spec.projects(0));
  EXPECT_EQ(spec.cluster_width(2), 768 / 16);
}

template <class Spec>
void spoiled_says(const std::function<void(Spec&)>& spoil, const char* part) {
  Spec spec;
  validate(spec);
  spoil(spec);
  EXPECT_SAYS(validate(spec), part);
}

TEST(TrainingSpecErrors, EachRule) {
  const auto says = spoiled_says<TrainingSpec>;
  using S = TrainingSpec;
  says([](S& s) { s.batch = 0; }, "training: batch is 0");
  says([](S& s) { s.chunks = 3; }, "chunks is 3; it must be a divisor of the batch");
  says([](S& s) { s.length = 0; }, "length is 0");
  says([](S& s) { s.memory = -1; }, "memory is -1");
  says([](S& s) { s.steps = 0; }, "steps is 0");
  says([](S& s) { s.learning_rate = 0; }, "learning_rate is 0");
  says([](S& s) { s.learning_rate = std::nan(""); }, "learning_rate is nan");
  says([](S& s) { s.final_rate = 1; }, "final_rate is 1; it must be from 0 to learning_rate");
  says([](S& s) { s.warmup = -1; }, "warmup is -1");
  says([](S& s) { s.weight_decay = -1; }, "weight_decay is -1");
  says([](S& s) { s.clip = -1; }, "clip is -1");
  says([](S& s) { s.evaluate_every = -2; }, "evaluate_every is -2");
  says([](S& s) { s.evaluate_tokens = -1; }, "evaluate_tokens is -1");
  says([](S& s) { s.patience = -1; }, "patience is -1");
}

TEST(EvaluationSpecErrors, EachRule) {
  const auto says = spoiled_says<EvaluationSpec>;
  using S = EvaluationSpec;
  says([](S& s) { s.batch = 0; }, "evaluation: batch is 0");
  says([](S& s) { s.length = -2; }, "length is -2");
  says([](S& s) { s.memory = -1; }, "memory is -1");
  says([](S& s) { s.clamp = -1; }, "clamp is -1");
}

}  // namespace
}  // namespace heed::spec
