// LAMB takes the norms of the tensors that the public code of a model has: against PyTorch in double on these
// tensors (tests/oracle/lamb.py).
#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "heed/train/training.h"
#include "tests/support/letters_case.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

constexpr int64_t kSteps = 20, kBatch = 2, kLength = 7;

struct Case {
  std::string name;
  spec::ModelSpec spec;
  std::string optimizer = "lamb";
  int64_t chunks = 1;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  spec::ModelSpec spec = test::small_model("transformer-xl", "(sf)x2");
  all.push_back({"Transformer-XL", spec});
  all.push_back({"Transformer-XL in chunks", spec, "lamb", 2});
  spec.attention.bias = true;
  all.push_back({"Transformer-XL with biases of queries, keys and values", spec, "nvlamb"});
  spec = test::small_model("transformer-xl", "(sf)x2");
  spec.embedding.cutoffs = {9, 17};
  all.push_back({"clusters of one table have one bias", spec});
  spec.embedding.division = 2;
  spec.head.tie_projections = {false, true, true};
  all.push_back({"narrower clusters have a bias each", spec});
  all.push_back({"narrower clusters in chunks", spec, "nvlamb", 2});
  spec = test::small_model("gpt2", "(sf)x2");
  all.push_back({"GPT-2", spec});
  return all;
}

spec::TrainingSpec training_of(const Case& c) {
  spec::TrainingSpec training;
  training.batch = kBatch, training.chunks = c.chunks, training.length = kLength;
  training.steps = kSteps, training.learning_rate = 0.01, training.schedule = "constant";
  training.optimizer = c.optimizer;
  training.weight_decay = 0.01;  // the default of nvlamb
  training.clip = 0.25;
  // With the usual epsilon a gradient that is nothing but rounding would become a whole step.
  training.optimizer_settings = {{"epsilon", 0.01}};
  if (c.optimizer == "lamb") training.weight_decay = 0;
  return training;
}

std::vector<int32_t> tokens_of(const Case& c, int64_t step, int64_t stream) {
  return test::random_tokens(kBatch * kLength, c.spec.embedding.vocabulary,
                             static_cast<uint32_t>(2 * step + stream));
}

const test::PyTorch& pytorch() {
  static const test::PyTorch answered = [] {
    test::PyTorch asked("lamb.py");
    Json questions = Json::array();
    for (const Case& c : cases()) {
      const spec::TrainingSpec training = training_of(c);
      const model::Weights weights = model::weights_of(c.spec);
      Json steps = Json::array();
      for (int64_t step = 0; step < kSteps; ++step) {
        const Shape tokens{kBatch, kLength}, targets{kBatch * kLength};
        steps.push_back({{"tokens", asked.write(tokens_of(c, step, 0).data(), {tokens, DType::kI32})},
                         {"targets", asked.write(tokens_of(c, step, 1).data(), {targets, DType::kI32})}});
      }
      questions.push_back(
          {{"name", c.name},
           {"settings", test::letters_settings(c.spec)},
           {"parameters", test::write_weights(asked, weights, test::weights_for_tests(weights))},
           {"optimizer", c.optimizer},
           {"learning_rate", training.learning_rate},
           {"epsilon", training.optimizer_settings["epsilon"]},
           {"clip", training.clip},
           {"steps", steps}});
    }
    asked.ask(questions);
    return asked;
  }();
  return answered;
}

class LambOnModels : public testing::TestWithParam<Case> {};

TEST_P(LambOnModels, TwentySteps) {
  set_thread_count(available_threads());
  HEED_NEEDS_ORACLE(pytorch().missing());
  const Case& c = GetParam();
  graph::Variables variables;
  train::Trainer trainer(c.spec, training_of(c), variables);
  const model::Weights weights = model::weights_of(c.spec);
  model::fill_weights(trainer.graph(), weights, *variables.parameters, test::weights_for_tests(weights));
  std::vector<double> losses;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto fill = [&](int64_t chunk, const Batch& to) {
      const auto tokens = to.ints("tokens"), targets = to.ints("targets");
      const std::ptrdiff_t first = chunk * static_cast<std::ptrdiff_t>(tokens.size());
      std::copy_n(tokens_of(c, step, 0).begin() + first, tokens.size(), tokens.begin());
      std::copy_n(tokens_of(c, step, 1).begin() + first, targets.size(), targets.begin());
    };
    losses.push_back(trainer.step(step + 1, 0, fill).loss);
  }
  // A gradient passes through five sums in each of four blocks, forward and back. Each step moves a tensor by
  // a hundredth of its norm, in a direction that is as wrong as the gradient.
  const double bound = test::rounding_bound(kBatch * kLength * c.spec.width, 2 * 4 * 5);
  const Json& answer = pytorch().answer(c.name);
  test::expect_close(losses, pytorch().read(answer["losses"]), bound, "losses");
  for (const std::string& name : trainer.parameters())
    test::expect_close(variables.parameters->at(name).floats(), pytorch().read(answer["parameters"][name]),
                       bound, name, 1);
}

INSTANTIATE_TEST_SUITE_P(, LambOnModels, testing::ValuesIn(cases()), [](const auto& given) {
  std::string name = given.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace heed
