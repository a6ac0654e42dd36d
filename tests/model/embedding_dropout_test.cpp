// Where a model drops between its tables and their projections, and where it does not. What is dropped there
// is the ops' business (tests/ops/cases_vocabulary.cpp).
#include <gtest/gtest.h>

#include "heed/base/philox.h"
#include "heed/graph/program.h"
#include "heed/model/heads.h"

namespace heed {
namespace {

constexpr int64_t kBatch = 2, kLength = 6;

// Only the dropout of embeddings is on.
spec::ModelSpec words(double rate, int64_t embedding_width, std::vector<int64_t> cutoffs, int64_t division) {
  spec::ModelSpec spec = spec::backbones().find("gpt2").settings();
  spec.arch = "(f)x2";
  spec.width = 24;
  spec.sizes["inner"] = {37};
  spec.embedding.vocabulary = 29;
  spec.embedding.context = 32;
  spec.embedding.width = embedding_width;
  spec.embedding.cutoffs = std::move(cutoffs);
  spec.embedding.division = division;
  spec.embedding.dropout = rate;
  return spec;
}

model::GraphForm form(bool training) {
  model::GraphForm form{.sequences = kBatch, .length = kLength};
  if (training) form.purpose = model::Training{};
  return form;
}

struct Built {
  std::shared_ptr<graph::Graph> graph = std::make_shared<graph::Graph>();
  model::Model model;
  graph::Variables variables;
  std::unique_ptr<graph::Program> program;
  model::InputSpans inputs;

  Built(const spec::ModelSpec& spec, bool training) : model(model::build(*graph, spec, form(training))) {
    graph->mark_output(model.loss);
    graph->tidy();
    program = std::make_unique<graph::Program>(graph, variables);
    Rng rng(5);
    for (graph::ValueId id : graph->of_role(graph::Role::kParameter)) {
      for (float& w : program->tensor(id).floats()) w = static_cast<float>(0.3 * rng.normal());
    }
    inputs = {*program, model.inputs};
    const Batch batch = batch_of(model, *program);
    for (const auto words_of : {batch.ints("tokens"), batch.ints("targets")}) {
      for (int32_t& token : words_of) token = static_cast<int32_t>(rng.below(29));
    }
    set_position(inputs, form(training), {});
  }

  float loss(int32_t step) {
    set_rng(inputs, 1 | uint64_t{2} << 32, static_cast<uint64_t>(step));
    program->run();
    return program->tensor(model.loss).f32()[0];
  }
};

TEST(EmbeddingDropout, DropsInTrainingWhereWordsAreProjected) {
  for (const spec::ModelSpec& spec :
       {words(0.4, 10, {}, 1), words(0.4, 10, {9, 17}, 1), words(0.4, 24, {9, 17}, 2)}) {
    spec::ModelSpec without = spec;
    without.embedding.dropout = 0;
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
  const model::GraphForm training = form(true);
  model::Builder builder(graph, spec, training);
  const model::Embedded embedded = model::token_embedding(builder);
  EXPECT_EQ(builder.next_stream(), 3);
  model::next_token_head(builder, embedded.x, embedded);
  EXPECT_EQ(builder.next_stream(), 7);
}

}  // namespace
}  // namespace heed
