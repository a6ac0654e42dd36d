// GPT-2 in training: against PyTorch in double (tests/oracle/gpt2.py) from the same weights, and against
// itself.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/ops/ops.h"
#include "heed/store/gpt2_names.h"
#include "heed/train/training.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

constexpr int64_t kSteps = 20;

// Every block different, no size a multiple of a vector.
spec::ModelSpec odd_model() {
  spec::ModelSpec spec;
  spec.arch = "(sf)x3";
  spec.width = 60;
  spec.heads = {2, 4, 3};
  spec.inner = {96, 130, 65};
  spec.vocabulary = 101;
  spec.context = 20;
  return spec;
}

spec::TrainingSpec odd_training() {
  spec::TrainingSpec training;
  training.batch = 3;
  training.length = 17;
  training.steps = kSteps;
  training.learning_rate = 1e-3;
  training.schedule = "constant";
  training.weight_decay = 0.1;
  training.decay_all = true;  // as torch.optim.AdamW
  return training;
}

std::vector<int32_t> tokens_of(int64_t step, int64_t stream) {
  const spec::TrainingSpec training = odd_training();
  return test::random_tokens(training.batch * training.length, odd_model().vocabulary,
                             static_cast<uint32_t>(2 * step + stream));
}

train::Trainer::Fill batch(int64_t step) {
  return [step](int64_t, std::span<int32_t> tokens, std::span<int32_t> targets) {
    std::copy_n(tokens_of(step, 0).begin(), tokens.size(), tokens.begin());
    std::copy_n(tokens_of(step, 1).begin(), targets.size(), targets.begin());
  };
}

// Weights of a size at which every part of the model matters; the usual start leaves attention nearly
// uniform.
void randomise(graph::Variables& variables, const graph::Graph& graph, const model::Weights& weights) {
  model::fill_weights(graph, weights, variables, test::weights_for_tests(weights));
}

// Losses of every step and the weights after the last; empty if PyTorch is not there.
std::vector<double> ask_pytorch(const graph::Graph& graph, const graph::Variables& variables) {
  const TemporaryFolder folder;
  const spec::TrainingSpec training = odd_training();
  Json json = {{"heads", odd_model().heads},
               {"batch", training.batch},
               {"length", training.length},
               {"steps", kSteps},
               {"learning_rate", training.learning_rate},
               {"weight_decay", training.weight_decay},
               {"parameters", Json::array()}};
  {
    std::ofstream weights(folder / "weights.bin", std::ios::binary),
        tokens(folder / "tokens.bin", std::ios::binary);
    for (graph::ValueId id : graph.of_role(graph::Role::kParameter)) {
      const Tensor w = variables.at(graph.value(id).name);
      std::vector<int64_t> shape;
      for (int d = 0; d < w.shape().rank(); ++d) shape.push_back(w.shape().dim(d));
      json["parameters"].push_back({{"name", store::gpt2_name(graph.value(id).name)}, {"shape", shape}});
      weights.write(reinterpret_cast<const char*>(w.data), w.type.bytes());
    }
    for (int64_t step = 0; step < kSteps; ++step) {
      for (int64_t stream = 0; stream < 2; ++stream) {
        const std::vector<int32_t> ids = tokens_of(step, stream);
        tokens.write(reinterpret_cast<const char*>(ids.data()), static_cast<std::streamsize>(4 * ids.size()));
      }
    }
    std::ofstream(folder / "case.json") << json;
  }
  const std::string command =
      "/usr/bin/python3 -B " HEED_SOURCE_DIR "/tests/oracle/gpt2.py " + folder.path().string();
  if (std::system(command.c_str()) != 0) return {};
  std::ifstream file(folder / "answers.bin", std::ios::binary);
  const std::string raw(std::istreambuf_iterator<char>(file), {});
  std::vector<double> answers(raw.size() / 8);
  std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(answers.data()));
  return answers;
}

TEST(Gpt2, TwentyStepsOfAdamW) {
  set_thread_count(available_threads());
  graph::Variables variables;
  train::Trainer trainer(odd_model(), odd_training(), variables);
  randomise(variables, trainer.graph(), model::weights_of(odd_model()));
  const std::vector<double> answers = ask_pytorch(trainer.graph(), variables);
  if (answers.empty()) {
    const char* required = std::getenv("HEED_REQUIRE_ORACLE");
    if (required && std::string(required) == "1") FAIL() << "PyTorch gave no answer";
    GTEST_SKIP() << "!! NOT CHECKED against PyTorch: python3-torch is missing";
  }
  // A loss passes through about 10 sums per block, each of up to 130 terms and off by some sqrt(130)
  // roundings.
  for (int64_t step = 0; step < kSteps; ++step) {
    const double loss = trainer.step(step + 1, 0, batch(step)).loss,
                 right = answers[static_cast<size_t>(step)];
    EXPECT_NEAR(loss, right, 60 * 11.4 * 6e-8 * right) << "step " << step + 1;
  }
  size_t next = kSteps;
  for (graph::ValueId id : trainer.graph().of_role(graph::Role::kParameter)) {
    const std::string& name = trainer.graph().value(id).name;
    // Adam divides by the root of v: an error of a gradient near 0 becomes part of a step of 1e-3. The bias
    // of keys has no gradient but rounding.
    const auto weights = variables.at(name).floats();
    size_t far = 0;
    for (float w : weights) far += std::abs(w - answers[next++]) > 1e-5;
    const bool keys = name.ends_with("qkv.bias");
    EXPECT_LE(far, weights.size() / (keys ? 3 : 100) + 1) << name;
  }
  EXPECT_EQ(next, answers.size());
}

std::vector<float> train_a_little(int threads, const std::string& optimizer, double dropout) {
  set_thread_count(threads);
  set_work_worth_a_thread(0);  // small as the model is, every loop is shared
  spec::ModelSpec spec = odd_model();
  spec.dropout = spec.attention_dropout = dropout;
  spec::TrainingSpec training = odd_training();
  training.optimizer = optimizer;
  graph::Variables variables;
  train::Trainer trainer(spec, training, variables);
  std::vector<float> result;
  for (int64_t step = 1; step <= 5; ++step)
    result.push_back(static_cast<float>(trainer.step(step, 0, batch(step)).loss));
  for (const auto& [name, tensor] : variables.all())
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
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i)
    ASSERT_NEAR(one[i], two[i], 2e-5) << i;  // five steps of fp32; another mask would differ by 0.1
}

// Only two weights learn: the gradients are those of the whole model, and nothing is computed for the rest.
TEST(Gpt2, GradientsOfSomeParametersAreThoseOfAll) {
  const spec::ModelSpec spec = odd_model();
  const std::vector<std::string> some = {"blocks.1.feed_forward.out.weight", "blocks.4.attention.qkv.bias"};
  std::vector<std::vector<float>> results;
  size_t nodes[2];
  for (const bool all : {true, false}) {
    auto g = std::make_shared<graph::Graph>();
    model::Use use;
    use.sequences = 2, use.length = 9;
    const model::Model model = model::build(*g, spec, use);
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
    model::Use use;
    use.purpose = model::Purpose::kScores;
    use.sequences = 2, use.length = 9, use.packed = packed;
    return test::Runner(spec, use, model::first_weights(weights, seed)).run(tokens);
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
    model::Use use;
    use.sequences = sequences, use.length = length;
    graph::Graph g;
    try {
      model::build(g, spec, use);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kUsage);
      return std::string(error.what());
    }
    return std::string("built");
  };
  const auto nothing = [](auto&) {};
  EXPECT_NE(
      message([](auto& s) { s.heads = {7}; }).find("width 60 is not a multiple of heads 7; try 56 or 63"),
      std::string::npos);
  EXPECT_NE(message([](auto& s) { s.heads = {0}; }).find("heads is 0"), std::string::npos);
  EXPECT_NE(message([](auto& s) {
              s.inner = {8, 8};
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
