// Where a model drops between its tables and their projections, and where it does not. What is dropped there
// is the ops' business (tests/ops/cases_vocabulary.cpp).
#include <gtest/gtest.h>

#include "heed/base/philox.h"
#include "heed/graph/program.h"
#include "heed/model/ends.h"

namespace heed {
namespace {

constexpr int64_t kBatch = 2, kLength = 6;

// Only the dropout of embeddings is on.
spec::ModelSpec words(double rate, int64_t embedding_width, std::vector<int64_t> cutoffs, int64_t division) {
  spec::ModelSpec spec = spec::backbones().find("gpt2").settings();
  spec.arch = "(f)x2";
  spec.width = 24;
  spec.inner = {37};
  spec.vocabulary = 29;
  spec.context = 32;
  spec.embedding_width = embedding_width;
  spec.cutoffs = std::move(cutoffs);
  spec.division = division;
  spec.embedding_dropout = rate;
  return spec;
}

model::Use use(bool training) {
  model::Use use;
  use.sequences = kBatch, use.length = kLength, use.training = training;
  return use;
}

struct Built {
  std::shared_ptr<graph::Graph> graph = std::make_shared<graph::Graph>();
  model::Model model;
  graph::Variables variables;
  std::unique_ptr<graph::Program> program;

  Built(const spec::ModelSpec& spec, bool training) : model(model::build(*graph, spec, use(training))) {
    graph->mark_output(model.loss);
    graph->tidy();
    program = std::make_unique<graph::Program>(graph, variables);
    Rng rng(5);
    for (graph::ValueId id : graph->of_role(graph::Role::kParameter)) {
      for (float& w : program->tensor(id).floats()) w = static_cast<float>(0.3 * rng.normal());
    }
    for (const char* name : {"tokens", "targets"}) {
      for (int32_t& token : program->input(name).ints()) token = static_cast<int32_t>(rng.below(29));
    }
    model::set_position(*program, use(training), {});
  }

  float loss(int32_t step) {
    if (graph->find("rng")) {
      const int32_t words[] = {1, 2, step, 0};
      std::copy(std::begin(words), std::end(words), program->input("rng").ints().begin());
    }
    program->run();
    return program->tensor(model.loss).f32()[0];
  }
};

TEST(EmbeddingDropout, DropsInTrainingWhereWordsAreProjected) {
  for (const spec::ModelSpec& spec :
       {words(0.4, 10, {}, 1), words(0.4, 10, {9, 17}, 1), words(0.4, 24, {9, 17}, 2)}) {
    spec::ModelSpec without = spec;
    without.embedding_dropout = 0;
    const float right = Built(without, true).loss(0);
    EXPECT_EQ(Built(spec, false).loss(0), right) << "evaluation drops nothing";
    Built training(spec, true);
    const float first = training.loss(0);
    EXPECT_NE(first, right);
    EXPECT_NE(training.loss(1), first);
    EXPECT_EQ(training.loss(0), first);
  }
}

TEST(EmbeddingDropout, HasNoEffectWithoutProjections) {
  for (const std::vector<int64_t>& cutoffs : {std::vector<int64_t>{}, {9, 17}}) {
    for (const double elsewhere : {0., 0.2}) {  // whose masks stay as they are
      spec::ModelSpec with = words(0.4, 0, cutoffs, 1), without = words(0, 0, cutoffs, 1);
      with.dropout = without.dropout = elsewhere;
      Built training(with, true), expected(without, true);
      for (const int32_t step : {0, 1}) EXPECT_EQ(training.loss(step), expected.loss(step));
    }
  }
}

// Two masks from one stream would be the same.
TEST(EmbeddingDropout, EveryClusterOfEitherEndHasItsOwnStream) {
  graph::Graph graph;
  const spec::ModelSpec spec = words(0.4, 24, {9, 17}, 2);
  const model::Use training = use(true);
  model::Builder builder(graph, spec, training);
  model::Ends ends(builder);
  const graph::ValueId x = ends.embed();
  EXPECT_EQ(builder.next_stream(), 3);
  ends.finish(x);
  EXPECT_EQ(builder.next_stream(), 7);
}

}  // namespace
}  // namespace heed
