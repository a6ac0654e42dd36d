// GPT-2 in training: against PyTorch in double (tests/oracle/gpt2.py) from the same weights, and against
// itself.
#include <gtest/gtest.h>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/ops/ops.h"
#include "heed/store/gpt2_names.h"
#include "heed/train/training.h"
#include "tests/support/pytorch.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

constexpr int64_t kSteps = 20;
constexpr double kRate = 1e-3, kEpsilon = 0.01;

// Every block different, no size a multiple of a vector.
spec::ModelSpec odd_model() {
  spec::ModelSpec spec;
  spec.arch = "(sf)x3";
  spec.width = 60;
  spec.sizes["heads"] = {2, 4, 3};
  spec.sizes["inner"] = {96, 130, 65};
  spec.embedding.vocabulary = 101;
  spec.embedding.context = 20;
  return spec;
}

spec::TrainingSpec odd_training() {
  spec::TrainingSpec training;
  training.batch = 3;
  training.length = 17;
  training.steps = kSteps;
  training.learning_rate = kRate;
  training.schedule = "constant";
  training.weight_decay = 0.1;
  training.decay_all = true;  // as torch.optim.AdamW
  // Adam divides by the root of v: with the usual 1e-8 a gradient that is nothing but rounding would become a
  // whole step. The ops of optimizers are judged with that (tests/ops/cases_optimizer.cpp).
  training.optimizer_settings = {{"epsilon", kEpsilon}};
  return training;
}

std::vector<int32_t> tokens_of(int64_t step, int64_t stream) {
  const spec::TrainingSpec training = odd_training();
  return test::random_tokens(training.batch * training.length, odd_model().embedding.vocabulary,
                             static_cast<uint32_t>(2 * step + stream));
}

train::Trainer::Fill batch(int64_t step) {
  return [step](int64_t, const Batch& to) {
    const auto tokens = to.ints("tokens"), targets = to.ints("targets");
    std::copy_n(tokens_of(step, 0).begin(), tokens.size(), tokens.begin());
    std::copy_n(tokens_of(step, 1).begin(), targets.size(), targets.begin());
  };
}

// Weights of a size at which every part of the model matters; the usual start leaves attention nearly
// uniform.
void randomise(graph::Variables& variables, const graph::Graph& graph, const model::Weights& weights) {
  model::fill_weights(graph, weights, *variables.parameters, test::weights_for_tests(weights));
}

// Losses of every step and the weights after the last.
Json ask_pytorch(test::PyTorch& pytorch, const graph::Graph& graph, const graph::Variables& variables) {
  const spec::TrainingSpec training = odd_training();
  Json parameters = Json::object(), steps = Json::array();
  for (graph::ValueId id : graph.of_role(graph::Role::kParameter)) {
    const std::string& name = graph.value(id).name;
    parameters[store::gpt2_name(name)] =
        pytorch.write(variables.parameters->at(name).data, variables.parameters->at(name).type);
  }
  for (int64_t step = 0; step < kSteps; ++step) {
    const Shape tokens{training.batch, training.length}, targets{training.batch * training.length};
    steps.push_back({{"tokens", pytorch.write(tokens_of(step, 0).data(), {tokens, DType::kI32})},
                     {"targets", pytorch.write(tokens_of(step, 1).data(), {targets, DType::kI32})}});
  }
  pytorch.ask({{{"name", "GPT-2"},
                {"heads", odd_model().sizes["heads"]},
                {"learning_rate", training.learning_rate},
                {"epsilon", kEpsilon},
                {"weight_decay", training.weight_decay},
                {"parameters", parameters},
                {"steps", steps}}});
  return pytorch.missing().empty() ? pytorch.answer("GPT-2") : Json();
}

TEST(Gpt2, TwentyStepsOfAdamW) {
  set_thread_count(available_threads());
  graph::Variables variables;
  train::Trainer trainer(odd_model(), odd_training(), variables);
  randomise(variables, trainer.graph(), model::weights_of(odd_model()));
  test::PyTorch pytorch("gpt2.py");
  const Json answer = ask_pytorch(pytorch, trainer.graph(), variables);
  HEED_NEEDS_ORACLE(pytorch.missing());
  std::vector<double> losses;
  for (int64_t step = 0; step < kSteps; ++step) losses.push_back(trainer.step(step + 1, 0, batch(step)).loss);
  // A gradient passes through five sums in each of six blocks, forward and back, of up to 130 terms.
  const double bound = test::rounding_bound(130, 2 * 6 * 5);
  test::expect_close(losses, pytorch.read(answer["losses"]), bound, "losses");
  // Gradients are below 1, and each of the steps moves a weight by a gradient times kRate / kEpsilon at most.
  for (graph::ValueId id : trainer.graph().of_role(graph::Role::kParameter)) {
    const std::string& name = trainer.graph().value(id).name;
    test::expect_close(variables.parameters->at(name).floats(),
                       pytorch.read(answer["parameters"][store::gpt2_name(name)]),
                       bound * (1 + kSteps * kRate / kEpsilon), name, 1);
  }
}

std::vector<float> train_a_little(int threads, const std::string& optimizer, double dropout) {
  set_thread_count(threads);
  set_work_worth_a_thread(0);  // small as the model is, every loop is shared
  spec::ModelSpec spec = odd_model();
  spec.dropout = spec.attention.dropout = dropout;
  spec::TrainingSpec training = odd_training();
  training.optimizer = optimizer;
  graph::Variables variables;
  train::Trainer trainer(spec, training, variables);
  std::vector<float> result;
  for (int64_t step = 1; step <= 5; ++step)
    result.push_back(static_cast<float>(trainer.step(step, 0, batch(step)).loss));
  for (const auto& [name, tensor] : variables.parameters->all())
    result.insert(result.end(), tensor.floats().begin(), tensor.floats().end());
  set_thread_count(available_threads());
  set_work_worth_a_thread(kWorkWorthAThread);
  return result;
}

TEST(Gpt2, SameSeedAndThreadsGiveTheSameBytes) {
  for (int threads : {1, 2})
    EXPECT_EQ(train_a_little(threads, "adamw", 0.1), train_a_little(threads, "adamw", 0.1))
        << threads << " threads";
}

TEST(Gpt2, OneAndTwoThreadsAgreeToRounding) {
  const auto one = train_a_little(1, "lamb", 0.2), two = train_a_little(2, "lamb", 0.2);
  // As above, with five steps; another mask would differ by 0.1.
  test::expect_close(one, two, test::rounding_bound(130, 2 * 6 * 5) * (1 + 5 * kRate / kEpsilon), "threads",
                     1);
}

// Only two weights learn: the gradients are those of the whole model, and nothing is computed for the rest.
TEST(Gpt2, GradientsOfSomeParametersAreThoseOfAll) {
  const spec::ModelSpec spec = odd_model();
  const std::vector<std::string> some = {"blocks.1.feed_forward.out.weight", "blocks.4.attention.qkv.bias"};
  std::vector<std::vector<float>> results;
  size_t nodes[2];
  for (const bool all : {true, false}) {
    auto g = std::make_shared<graph::Graph>();
    const model::GraphForm form{.sequences = 2, .length = 9};
    const model::Model model = model::build(*g, spec, form);
    std::vector<graph::ValueId> wrt;
    for (const std::string& name : some) wrt.push_back(g->find(name));
    const auto gradients = ops::gradients(*g, model.loss, all ? g->of_role(graph::Role::kParameter) : wrt);
    g->mark_output(model.losses);
    for (graph::ValueId id : wrt) g->mark_output(gradients.at(id));
    g->tidy();
    nodes[all] = g->nodes().size();
    graph::Variables variables;
    randomise(variables, *g, model.weights);
    graph::Program program(g, variables);
    const std::vector<int32_t> tokens = tokens_of(0, 0);
    std::copy_n(tokens.begin(), 18, program.input("tokens").ints().begin());
    for (int32_t& target : program.input("targets").ints()) target = 3;
    program.run();
    results.emplace_back(program.tensor(model.losses).floats().begin(),
                         program.tensor(model.losses).floats().end());
    for (graph::ValueId id : wrt) {
      const auto gradient = program.tensor(gradients.at(id)).floats();
      results.back().insert(results.back().end(), gradient.begin(), gradient.end());
    }
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_LE(nodes[false], nodes[true]);
}

// First weights by name and seed: a packed graph makes its own from the same ones.
TEST(Gpt2, PackedAndPlainWeightsStartAlike) {
  const spec::ModelSpec spec = odd_model();
  const model::Weights weights = model::weights_of(spec);
  std::vector<int32_t> tokens = tokens_of(0, 0);
  tokens.resize(18);
  const auto scores = [&](uint64_t seed, bool packed) {
    const model::GraphForm form = recomputing_form(
        {2, 9, 0}, model::GraphEnd::kScores, packed ? model::WeightForm::kPacked : model::WeightForm::kPlain);
    return test::Runner(spec, form, model::first_weights(weights, seed)).run(tokens);
  };
  test::expect_equal_to_rounding(scores(7, true), scores(7, false), "packed");
  EXPECT_NE(scores(8, false), scores(7, false));
}

TEST(Gpt2, CountsWhatThePapersCount) {
  // Javaheripi and others 2022: nonembedding = L (4 d^2 + 9 d) + sum_i f_i (2 d + 1) + 2 d
  const int64_t d = 60, decoder = 3 * (4 * d * d + 9 * d) + (96 + 130 + 65) * (2 * d + 1) + 2 * d;
  EXPECT_EQ(model::count_parameters(odd_model()).total, decoder + (101 + 20) * d);
}

TEST(Gpt2, RefusesWhatCannotBeBuilt) {
  const auto message = [](auto change, int64_t sequences = 1, int64_t length = 4) {
    spec::ModelSpec spec = odd_model();
    change(spec);
    graph::Graph g;
    try {
      model::build(g, spec, {.sequences = sequences, .length = length});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string("built");
  };
  const auto nothing = [](auto&) {};
  EXPECT_NE(message([](auto& s) {
              s.sizes["heads"] = {7};
            }).find("width 60 is not a multiple of heads 7; try 56 or 63"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.sizes["heads"] = {0}; }).find("heads is 0"), std::string::npos);
  EXPECT_NE(message([](auto& s) {
              s.sizes["inner"] = {8, 8};
            }).find("2 entries for 3 blocks of kind f"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.arch = ""; }), "built");
  EXPECT_NE(message([](auto& s) { s.backbone = "gpt3"; }).find("gpt3"), std::string::npos);
  EXPECT_NE(message(nothing, 1, 21).find("1 to 20 positions"), std::string::npos);
  EXPECT_NE(message(nothing, 0, 4).find("a batch of 0 x 4"), std::string::npos);
  EXPECT_EQ(message(nothing), "built");
}

}  // namespace
}  // namespace heed
