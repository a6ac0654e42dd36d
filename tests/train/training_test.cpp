// One update at a time: chunks, states, what goes wrong.
#include "heed/train/training.h"

#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using test::expect_equal_to_rounding;
using test::random_tokens;
using test::small_model;
using train::Trainer;

spec::TrainingSpec small_training(int64_t chunks) {
  spec::TrainingSpec training;
  training.batch = 4, training.chunks = chunks, training.length = 5, training.memory = 6;
  training.steps = 10, training.learning_rate = 0.01, training.schedule = "constant";
  training.optimizer = "lamb";
  training.clip = 0.25;
  return training;
}

// Batch `step` of four rows, cut into chunks of rows.
Trainer::Fill batch(int64_t step, int64_t vocabulary) {
  return [=](int64_t chunk, const Batch& to) {
    const auto tokens = to.ints("tokens"), targets = to.ints("targets");
    const auto first = static_cast<std::ptrdiff_t>(chunk) * static_cast<std::ptrdiff_t>(tokens.size());
    const auto all = random_tokens(20, vocabulary, static_cast<uint32_t>(2 * step)),
               next = random_tokens(20, vocabulary, static_cast<uint32_t>(2 * step + 1));
    std::copy_n(all.begin() + first, tokens.size(), tokens.begin());
    std::copy_n(next.begin() + first, targets.size(), targets.begin());
  };
}

TEST(Training, ChunksGiveTheUpdateOfTheWholeBatch) {
  for (const char* arch : {"(sf)x2", "sfriaf", "(f)x2"}) {
    const spec::ModelSpec spec = small_model("transformer-xl", arch);
    graph::Variables whole, cut;
    // LAMB divides by the root of v: with the usual epsilon a gradient that is nothing but rounding would
    // become a whole step.
    spec::TrainingSpec together = small_training(1), apart = small_training(4);
    together.optimizer_settings = apart.optimizer_settings = {{"epsilon", 0.01}};
    Trainer one(spec, together, whole), four(spec, apart, cut);
    std::vector<double> expected, found;
    for (int64_t step = 1; step <= 4; ++step) {
      const int64_t seen = step == 4 ? 0 : 5 * (step - 1);  // the fourth begins a new text
      const auto a = one.step(step, seen, batch(step, spec.embedding.vocabulary)),
                 b = four.step(step, seen, batch(step, spec.embedding.vocabulary));
      expected.insert(expected.end(), {a.loss, a.gradient_norm});
      found.insert(found.end(), {b.loss, b.gradient_norm});
      EXPECT_EQ(a.learning_rate, b.learning_rate);
    }
    expect_equal_to_rounding(found, expected, text(arch, " losses and norms"));
    EXPECT_EQ(one.parameters(), four.parameters());
    // Memories [1, 4, ..] and [4, 1, ..] hold the same rows in the same order.
    const auto expect_same = [&](const graph::NamedTensors& a, const graph::NamedTensors& b,
                                 const std::vector<std::string>& names) {
      for (const std::string& name : names)
        expect_equal_to_rounding(a.at(name).floats(), b.at(name).floats(), text(arch, " ", name));
    };
    expect_same(*cut.parameters, *whole.parameters, one.parameters());
    expect_same(cut.states, whole.states, one.states());
    // Self-attention projects the distances, one per position it sees, once per chunk instead of once: a
    // product of [T + M, D] and [D, D] and the gradient of its weights.
    const auto attending = std::ranges::count(spec.letters(), 's');
    const int64_t projection = 2 * 2 * (5 + 6) * spec.width * spec.width;
    EXPECT_EQ(four.flops(), one.flops() + static_cast<double>(3 * attending * projection)) << arch;
  }
}

TEST(Training, ParametersAndStatesAreAllThatAnUpdateChanges) {
  const spec::ModelSpec spec = small_model("sru++", "sfriaf");
  graph::Variables variables;
  Trainer trainer(spec, small_training(2), variables);
  std::vector<std::string> expected;
  for (const auto& [name, weight] : model::weights_of(spec).plain) expected.push_back(name);
  EXPECT_EQ(trainer.parameters(), expected);
  std::set<std::string> all(expected.begin(), expected.end());
  for (const std::string& name : trainer.states()) EXPECT_TRUE(all.insert(name).second) << name;
  for (const std::string& name : expected) EXPECT_TRUE(all.contains(name + ".m")) << name;
  for (const char* name : {"blocks.0.memory", "blocks.2.cell", "blocks.4.memory", "blocks.4.cell"})
    EXPECT_TRUE(all.contains(name)) << name;
  // All that is held, but for the sums of gradients, which each update begins anew.
  std::set<std::string> held;
  for (const auto& [name, tensor] : variables.parameters->all()) held.insert(name);
  for (const auto& [name, tensor] : variables.states.all()) held.insert(name);
  for (const std::string& name : expected) EXPECT_EQ(held.erase(name + ".gradient"), 1) << name;
  EXPECT_EQ(all, held);
}

// Chunk c of step s draws its masks as update s * chunks + c would.
TEST(Training, EveryChunkHasItsOwnMasks) {
  spec::ModelSpec spec = small_model("transformer-xl", "(sf)x2");
  spec.dropout = 0.3, spec.attention.dropout = 0.2;
  spec::TrainingSpec alone = small_training(1), chunked = small_training(2);
  alone.batch = 1, chunked.batch = 2;
  const Trainer::Fill same = [](int64_t, const Batch& to) {
    const auto tokens = to.ints("tokens"), targets = to.ints("targets");
    std::copy_n(random_tokens(5, 29, 1).begin(), 5, tokens.begin());
    std::copy_n(random_tokens(5, 29, 2).begin(), 5, targets.begin());
  };
  const auto loss = [&](const spec::TrainingSpec& training, int64_t step) {
    graph::Variables variables;
    return Trainer(spec, training, variables).step(step, 0, same).loss;
  };
  EXPECT_NE(loss(alone, 6), loss(alone, 7));
  // The loss is a sum in double.
  EXPECT_DOUBLE_EQ(loss(chunked, 3), (loss(alone, 6) + loss(alone, 7)) / 2);
  EXPECT_EQ(loss(alone, 6), loss(alone, 6));
}

TEST(Training, MemoryIsUsedAndForgottenWhenATextBegins) {
  const spec::ModelSpec spec = small_model("transformer-xl", "rsfaf");
  spec::TrainingSpec training = small_training(2);
  training.learning_rate = 1e-30;  // the weights stay as they are
  graph::Variables variables;
  Trainer trainer(spec, training, variables);
  const double first = trainer.step(1, 0, batch(1, 29)).loss;
  EXPECT_NE(trainer.step(2, 5, batch(1, 29)).loss, first);
  EXPECT_EQ(trainer.step(3, 0, batch(1, 29)).loss, first);
}

TEST(Training, ALossThatIsNoNumberNamesTheStep) {
  for (const int64_t chunks : {1, 2}) {
    const spec::ModelSpec spec = small_model("transformer-xl", "sf");
    graph::Variables variables;
    Trainer trainer(spec, small_training(chunks), variables);
    trainer.step(6, 0, batch(1, 29));
    variables.parameters->at("blocks.1.feed_forward.in.weight").f32()[3] = NAN;
    try {
      trainer.step(7, 5, batch(2, 29));
      ADD_FAILURE() << "nothing was noticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDiverged);
      EXPECT_NE(std::string(error.what()).find("at step 7 the loss is nan"), std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("smaller learning rate (now 0.01)"), std::string::npos);
    }
  }
}

// The least mean loss of a model that does not look at its tokens: the entropy of the targets.
double blind_loss(int64_t step, int64_t vocabulary) {
  std::vector<int32_t> tokens(20), targets(20);
  Batch inputs;
  inputs.add("tokens", {tokens.data(), {{20}, DType::kI32}});
  inputs.add("targets", {targets.data(), {{20}, DType::kI32}});
  batch(step, vocabulary)(0, inputs);
  double loss = 0;
  for (const int32_t target : targets)
    loss -= std::log(static_cast<double>(std::ranges::count(targets, target)) / 20) / 20;
  return loss;
}

// Every kind of model learns a text it sees again and again, also one whose shared biases nothing uses.
TEST(Training, EveryKindOfModelLearns) {
  for (const auto& [backbone, arch] : {std::pair{"transformer-xl", "(f)x2"},
                                       {"transformer-xl", "(sf)x2"},
                                       {"sru++", "(a)x2"},
                                       {"sru++", "(r)x2"},
                                       {"gpt2", "(sf)x2"},
                                       {"gpt2", "f"},
                                       {"transformer-xl", "i"}}) {
    for (const int64_t chunks : {1, 2}) {
      const spec::ModelSpec spec = small_model(backbone, arch);
      spec::TrainingSpec training = small_training(chunks);
      training.optimizer = "adam";
      if (spec.positions == Positions::kLearned) training.memory = 0;
      graph::Variables variables;
      Trainer trainer(spec, training, variables);
      double loss = 0;
      for (int64_t step = 1; step <= 60; ++step) loss = trainer.step(step, 0, batch(1, 29)).loss;
      EXPECT_LT(loss, blind_loss(1, 29)) << backbone << " " << arch << ", " << chunks << " chunks";
    }
  }
}

TEST(Training, GoesOnWithWeightsThatAreThere) {
  const spec::ModelSpec spec = small_model("transformer-xl", "sf");
  graph::Variables variables;
  Trainer(spec, small_training(1), variables).step(1, 0, batch(1, 29));
  const auto weights = variables.parameters->at("embedding.table").floats();
  const std::vector<float> before(weights.begin(), weights.end());
  Trainer second(spec, small_training(1), variables);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), weights.begin()));
  graph::Variables other;
  Trainer third(spec, small_training(1), other);
  EXPECT_FALSE(
      std::equal(before.begin(), before.end(), other.parameters->at("embedding.table").floats().begin()));
}

TEST(Training, RefusesSettingsThatMakeNoSense) {
  const auto refused = [](auto change) {
    spec::TrainingSpec training = small_training(1);
    change(training);
    try {
      train::build_training_graph(small_model("transformer-xl", "sf"), training);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string("built");
  };
  EXPECT_NE(refused([](auto& t) { t.chunks = 3; }).find("chunks is 3; it must be a divisor of the batch"),
            std::string::npos);
  EXPECT_NE(refused([](auto& t) { t.batch = 0; }).find("batch is 0"), std::string::npos);
  EXPECT_NE(refused([](auto& t) { t.optimizer = "adaam"; }).find("did you mean 'adam'?"), std::string::npos);
  EXPECT_NE(refused([](auto& t) { t.optimizer_settings = {{"betta", 1}}; }).find("betta"), std::string::npos);
  EXPECT_NE(refused([](auto& t) { t.schedule = "cosin"; }).find("did you mean 'cosine'?"), std::string::npos);
}

// Weight decay of matrices only, or of everything; what the optimizer's own settings say counts more.
TEST(Training, DecayReachesWhatItShould) {
  const auto gain_after = [](bool all, Json settings) {
    const spec::ModelSpec spec = small_model("gpt2", "f");
    spec::TrainingSpec training = small_training(1);
    training.optimizer = "adamw", training.optimizer_settings = std::move(settings);
    training.weight_decay = 0.5, training.decay_all = all, training.learning_rate = 0.1;
    training.memory = 0;
    graph::Variables variables;
    Trainer trainer(spec, training, variables);
    // No target counts: all gradients are 0, and only decay moves a weight.
    trainer.step(1, 0, [](int64_t, const Batch& to) {
      const auto tokens = to.ints("tokens"), targets = to.ints("targets");
      std::fill(tokens.begin(), tokens.end(), 1);
      std::fill(targets.begin(), targets.end(), -1);
    });
    return variables.parameters->at("norm.weight").f32()[0];
  };
  EXPECT_FLOAT_EQ(gain_after(true, Json::object()), 0.95f);
  EXPECT_FLOAT_EQ(gain_after(false, Json::object()), 1);
  EXPECT_FLOAT_EQ(gain_after(false, {{"weight_decay", 0.2}}), 0.98f);
}

}  // namespace
}  // namespace heed
