// Supernets as models: what a one-hot choice makes of them, gradients of the logits, what branches cost.
// tests/model/letters_test.cpp holds whole supernets against PyTorch.
#include <gtest/gtest.h>

#include "heed/graph/count.h"
#include "heed/ops/ops.h"
#include "heed/train/training.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using test::random_tokens;
using test::small_model;
using test::weights_for_tests;

constexpr int64_t kBatch = 2, kLength = 5, kMemory = 6, kSegments = 3;

spec::ModelSpec supernet(const std::string& letters, size_t layers) {
  spec::ModelSpec spec = small_model("transformer-xl", text("(", letters, ")x", layers));
  spec.mix = static_cast<int64_t>(letters.size());
  spec.norm = Norm::kPre;
  return spec;
}

// A model in training form without an optimizer: segments run one after the other, every gradient known.
class Differentiated {
 public:
  Differentiated(const spec::ModelSpec& spec, const model::Source& source) {
    auto graph = std::make_shared<graph::Graph>();
    model_ = model::build(*graph, spec, form_);
    gradients_ = ops::gradients(*graph, model_.loss, graph->of_role(graph::Role::kParameter));
    graph->mark_output(model_.loss);
    graph->mark_output(model_.losses);
    for (const graph::ValueId m : model_.mixtures) graph->mark_output(m);
    for (const auto& [parameter, gradient] : gradients_) graph->mark_output(gradient);
    graph->tidy();
    program_ = std::make_unique<graph::Program>(graph, variables_);
    model::fill_weights(*graph, model_.weights, *variables_.parameters,
                        source ? source : weights_for_tests(model_.weights));
    inputs_ = {*program_, model_.inputs};
    batch_ = batch_of(model_, *program_);
    if (!inputs_.temperature.empty()) inputs_.temperature[0] = 0.7f;
  }

  double loss(uint32_t segments = kSegments) {
    model::Cursor cursor(model_, form_, variables_.states);
    cursor.restart();
    for (uint32_t segment = 0; segment < segments; ++segment) {
      std::ranges::copy(random_tokens(kBatch * kLength, 29, 2 * segment), batch_.ints("tokens").begin());
      std::ranges::copy(random_tokens(kBatch * kLength, 29, 2 * segment + 1), batch_.ints("targets").begin());
      cursor.prepare(inputs_, form_);
      program_->run();
      cursor.advance(kLength);
    }
    return program_->tensor(model_.loss).f32()[0];
  }
  std::vector<float> losses() const { return floats(program_->tensor(model_.losses)); }
  std::vector<float> mixture(size_t layer) const {
    return floats(program_->tensor(model_.mixtures.at(layer)));
  }
  std::map<std::string, std::vector<float>> gradients() const {
    std::map<std::string, std::vector<float>> all;
    for (const auto& [parameter, gradient] : gradients_)
      all[program_->graph().value(parameter).name] = floats(program_->tensor(gradient));
    return all;
  }
  const graph::Variables& variables() const { return variables_; }
  const model::InputSpans& inputs() const { return inputs_; }

 private:
  static std::vector<float> floats(const Tensor& tensor) {
    return {tensor.floats().begin(), tensor.floats().end()};
  }

  model::GraphForm form_{model::Training{.memory = kMemory}, kBatch, kLength};
  model::Model model_;
  std::map<graph::ValueId, graph::ValueId> gradients_;
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
  model::InputSpans inputs_;
  Batch batch_;
};

// The name that a weight of the supernet has in the plain model of the chosen blocks; empty if it has none.
std::string plain_name(const std::string& name, const std::string& letters, const std::string& chosen) {
  if (name.starts_with("layers.")) return "";
  if (!name.starts_with("blocks.")) return name;
  const size_t dot = name.find('.', 7), block = std::stoul(name.substr(7, dot - 7)),
               layer = block / letters.size();
  if (letters[block % letters.size()] != chosen[layer]) return "";
  return text("blocks.", layer, name.substr(dot));
}

TEST(Supernet, WithAOneHotChoiceIsThePlainModel) {
  for (const auto& [letters, chosen] : {std::pair<std::string, std::string>{"sfi", "sfifs"},
                                        {"sfi", "iii"},
                                        {"ifs", "ssff"},
                                        {"sfira", "sfira"},
                                        {"ar", "rar"}}) {
    const spec::ModelSpec spec = supernet(letters, chosen.size());
    spec::ModelSpec plain = spec;
    plain.mix = 0, plain.arch = chosen;
    const model::Weights weights = model::weights_of(spec);
    const model::Source source = weights_for_tests(weights);
    Differentiated whole(spec, [&](const std::string& name, const Tensor& into) {
      source(name, into);
      if (weights.plain.at(name).group != WeightGroup::kChoice) return;
      const size_t layer = std::stoul(name.substr(7));
      for (size_t i = 0; i < letters.size(); ++i) into.f32()[i] = letters[i] == chosen[layer] ? 1000.f : 0.f;
    });
    std::map<std::string, std::string> name_of;  // in the supernet
    for (const auto& [name, weight] : weights.plain) name_of[plain_name(name, letters, chosen)] = name;
    Differentiated part(plain,
                        [&](const std::string& name, const Tensor& into) { source(name_of.at(name), into); });
    EXPECT_EQ(whole.loss(), part.loss()) << chosen;
    EXPECT_EQ(whole.losses(), part.losses()) << chosen;
    auto expected = part.gradients();
    for (const auto& [name, gradient] : whole.gradients()) {
      const std::string same = plain_name(name, letters, chosen);
      if (expected.contains(same)) {
        EXPECT_EQ(gradient, expected.at(same)) << chosen << ": " << name;
        expected.erase(same);
      } else {
        for (const float g : gradient) ASSERT_EQ(g, 0) << chosen << ": " << name;
      }
    }
    EXPECT_TRUE(expected.empty()) << chosen << ": " << expected.begin()->first;
  }
}

// Noise and temperature as in training. One segment: what earlier ones leave counts as given.
TEST(Supernet, GradientsOfTheLogitsAreFiniteDifferences) {
  for (const char* letters : {"sfi", "sfira"}) {
    spec::ModelSpec spec = supernet(letters, 3);
    spec.feed_forward.activation = InnerActivation::kGeluTanh;  // a kink would make differences wrong
    Differentiated model(spec, {});
    model.inputs().rng[0] = 11;
    model.loss(1);
    const auto gradients = model.gradients();
    double largest = 0;
    for (int64_t layer = 0; layer < 3; ++layer) {
      const std::string name = model::theta_name(layer);
      const Tensor theta = model.variables().parameters->at(name);
      for (size_t i = 0; i < theta.floats().size(); ++i) {
        const float at = theta.f32()[i];
        const auto loss_at = [&](float moved) {
          theta.f32()[i] = at + moved;
          const double loss = model.loss(1);
          theta.f32()[i] = at;
          return loss;
        };
        const auto slope = [&](float step) {
          return (loss_at(step) - loss_at(-step)) / (2 * static_cast<double>(step));
        };
        // Differences of losses of about 4 are good to 1e-6, so slopes to some 4e-5; what is of the square of
        // the step cancels.
        const double expected = (4 * slope(0.02f) - slope(0.04f)) / 3;
        EXPECT_NEAR(gradients.at(name)[i], expected, 1e-4) << letters << " " << name << " " << i;
        largest = std::max(largest, std::abs(expected));
      }
    }
    EXPECT_GT(largest, 1e-4) << "zeros would be right too";
  }
}

// One draw for the whole batch and segment, another for each layer and each run.
TEST(Supernet, NoiseChangesTheLossFromRunToRunAndRepeats) {
  Differentiated model(supernet("sfi", 3), {});
  for (int64_t layer = 0; layer < 3; ++layer) {
    for (float& logit : model.variables().parameters->at(model::theta_name(layer)).floats()) logit = 0;
  }
  const double first = model.loss();
  EXPECT_NE(model.mixture(0), model.mixture(1));
  EXPECT_NE(model.mixture(1), model.mixture(2));
  model.inputs().rng[2] = 1;
  EXPECT_NE(model.loss(), first);
  model.inputs().rng[2] = 0;
  EXPECT_EQ(model.loss(), first);
}

struct Size {
  int64_t weights, arena;
  double flops;
};
Size size_of(const spec::ModelSpec& spec, bool (*changes)(WeightGroup)) {
  spec::TrainingSpec training;
  training.batch = 16, training.length = 64, training.memory = 64;
  const auto graph = train::build_training_graph(spec, training, {{}, changes});
  return {graph.memory().weights, graph.memory().arena, graph.flops()};
}

TEST(Supernet, IdentityBranchesCostNothing) {
  for (const auto& changes : {+[](WeightGroup group) { return group != WeightGroup::kChoice; },
                              +[](WeightGroup group) { return group == WeightGroup::kChoice; }}) {
    const Size with = size_of(supernet("sfi", 6), changes), without = size_of(supernet("sf", 6), changes);
    EXPECT_LE(with.weights, without.weights + 6 * 64);  // a logit each; lines of 64 bytes are the smallest
    EXPECT_LE(with.arena, without.arena + 4096);
    // Its share of the mixture is added, which is all.
    EXPECT_LE(with.flops, without.flops + 6 * 6.0 * 16 * 64 * 24);
  }
}

TEST(Supernet, IsNotTrainedAsAModelNorNormedAfter) {
  spec::ModelSpec spec = supernet("sfi", 2);
  try {
    train::build_training_graph(spec, {});
    ADD_FAILURE() << "was built";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("heed supernet"), std::string::npos) << error.what();
  }
  spec.norm = Norm::kPost;
  EXPECT_THROW(validate(spec), Error);
  spec.norm = Norm::kPre, spec.mix = 4;
  EXPECT_THROW(validate(spec), Error);
  spec.mix = 1;
  EXPECT_THROW(validate(spec), Error);
}

}  // namespace
}  // namespace heed
