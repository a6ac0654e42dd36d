// GPT-2 against PyTorch in double (tests/oracle/gpt2.py), from the same weights.
#include "heed/model/gpt2.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/graph/count.h"
#include "heed/ops/ops.h"
#include "heed/train/training.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSteps = 20;

// Every layer different, no size a multiple of a vector.
spec::ModelSpec odd_model() {
  spec::ModelSpec spec;
  spec.layers = 3;
  spec.width = 60;
  spec.heads = {2, 4, 3};
  spec.inner = {96, 130, 65};
  spec.vocabulary = 101;
  spec.context = 20;
  return spec;
}

train::TrainingSpec odd_training() {
  train::TrainingSpec training;
  training.batch = 3;
  training.length = 17;
  training.steps = kSteps;
  training.learning_rate = 1e-3;
  training.final_share = 1;
  training.warmup = 0;
  training.weight_decay = 0.1;
  training.decay_all = true;  // as torch.optim.AdamW
  training.clip = 0;
  return training;
}

// Weights of a size at which every part of the model matters; the usual start leaves attention nearly
// uniform.
void randomise(graph::Variables& variables, const graph::Graph& graph) {
  variables.allocate(graph);
  uint32_t stream = 0;
  for (graph::ValueId id : graph.of_role(graph::Role::kParameter)) {
    Rng rng(5, stream++);
    const bool gain = graph.shape(id).rank() == 1 && graph.value(id).name.ends_with(".weight");
    for (float& w : variables.at(graph.value(id).name).floats())
      w = static_cast<float>((gain ? 1 : 0) + 0.15 * rng.normal());
  }
}

class Gpt2Oracle : public testing::Test {
 protected:
  void SetUp() override {
    set_thread_count(available_threads());
    model_ = model::gpt2_loss(*graph_, spec_, {training_.batch, training_.length}, false);
    parameters_ = graph_->of_role(graph::Role::kParameter);
    randomise(start_, *graph_);
    Rng rng(11, 0);
    for (int64_t i = 0; i < kSteps * 2 * batch_; ++i)
      tokens_.push_back(static_cast<int32_t>(rng.below(spec_.vocabulary)));
    ask();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void ask() {
    folder_ = fs::temp_directory_path() / ("heed-gpt2-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    Json json = {{"heads", spec_.heads},
                 {"batch", training_.batch},
                 {"length", training_.length},
                 {"steps", kSteps},
                 {"learning_rate", training_.learning_rate},
                 {"weight_decay", training_.weight_decay},
                 {"parameters", Json::array()}};
    std::ofstream weights(folder_ / "weights.bin", std::ios::binary),
        tokens(folder_ / "tokens.bin", std::ios::binary);
    for (graph::ValueId id : parameters_) {
      const Tensor w = start_.at(graph_->value(id).name);
      std::vector<int64_t> shape;
      for (int d = 0; d < w.shape().rank(); ++d) shape.push_back(w.shape().dim(d));
      json["parameters"].push_back({{"name", graph_->value(id).name}, {"shape", shape}});
      weights.write(reinterpret_cast<const char*>(w.data), w.type.bytes());
    }
    tokens.write(reinterpret_cast<const char*>(tokens_.data()),
                 static_cast<std::streamsize>(tokens_.size() * 4));
    std::ofstream(folder_ / "case.json") << json;
    weights.close();
    tokens.close();
    const std::string command =
        "/usr/bin/python3 -B " HEED_SOURCE_DIR "/tests/oracle/gpt2.py " + folder_.string();
    if (std::system(command.c_str()) != 0) {
      const char* required = std::getenv("HEED_REQUIRE_ORACLE");
      if (required && std::string(required) == "1") FAIL() << "PyTorch gave no answer: " << command;
      GTEST_SKIP() << "!! NOT CHECKED against PyTorch: python3-torch is missing";
    }
    std::ifstream file(folder_ / "answers.bin", std::ios::binary);
    const std::string raw(std::istreambuf_iterator<char>(file), {});
    answers_.resize(raw.size() / 8);
    std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(answers_.data()));
  }

  void give(const Tensor& tokens, const Tensor& targets, int64_t step) {
    std::copy_n(tokens_.begin() + step * 2 * batch_, batch_, tokens.ints().begin());
    std::copy_n(tokens_.begin() + (step * 2 + 1) * batch_, batch_, targets.ints().begin());
  }

  // Error bound: a value passes through about 10 sums per layer, each of up to 130 terms and off by some
  // sqrt(130) roundings of the largest number in the tensor.
  void expect_close(std::span<const float> actual, const std::string& name) {
    double largest = 0, worst = 0;
    size_t where = 0;
    ASSERT_LE(next_ + actual.size(), answers_.size());
    for (size_t i = 0; i < actual.size(); ++i) largest = std::max(largest, std::abs(answers_[next_ + i]));
    for (size_t i = 0; i < actual.size(); ++i) {
      const double error = std::abs(actual[i] - answers_[next_ + i]);
      if (!(error <= worst)) worst = error, where = i;
    }
    const double bound = 30 * 11.4 * 6e-8 * largest;
    EXPECT_LE(worst, bound) << name << " at " << where << ": expected " << answers_[next_ + where] << ", is "
                            << actual[where];
    next_ += actual.size();
  }

  spec::ModelSpec spec_ = odd_model();
  train::TrainingSpec training_ = odd_training();
  const int64_t batch_ = training_.batch * training_.length;
  std::shared_ptr<graph::Graph> graph_ = std::make_shared<graph::Graph>();
  model::Gpt2 model_;
  std::vector<graph::ValueId> parameters_;
  graph::Variables start_;
  std::vector<int32_t> tokens_;
  std::vector<double> answers_;
  size_t next_ = 0;
  fs::path folder_;
};

TEST_F(Gpt2Oracle, LogitsLossGradientsAndTwentyStepsOfAdamW) {
  if (IsSkipped()) return;
  for (const model::Weights weights : {model::Weights::kPlain, model::Weights::kPacked}) {
    auto forward = std::make_shared<graph::Graph>();
    const model::Gpt2 logits =
        model::gpt2_logits(*forward, spec_, {training_.batch, training_.length}, weights);
    forward->mark_output(logits.logits);
    forward->tidy();
    graph::Variables own;
    if (weights == model::Weights::kPacked) model::pack_gpt2(*forward, logits, start_, own);
    graph::Program program(forward, weights == model::Weights::kPacked ? own : start_);
    std::copy_n(tokens_.begin(), batch_, program.input("tokens").ints().begin());
    program.run();
    next_ = 0;
    expect_close(program.tensor(logits.logits).floats(),
                 weights == model::Weights::kPacked ? "logits of packed weights" : "logits");
  }

  const auto gradients = ops::gradients(*graph_, model_.loss, parameters_);
  graph_->mark_output(model_.loss);
  for (const auto& [parameter, gradient] : gradients) graph_->mark_output(gradient);
  graph_->tidy();
  graph::Program program(graph_, start_);
  give(program.input("tokens"), program.input("targets"), 0);
  program.run();
  expect_close(program.tensor(model_.loss).floats(), "loss");
  for (graph::ValueId parameter : parameters_)
    expect_close(program.tensor(gradients.at(parameter)).floats(),
                 "gradient of " + graph_->value(parameter).name);

  train::Trainer trainer(spec_, training_, start_);
  for (int64_t step = 0; step < kSteps; ++step) {
    give(trainer.tokens(), trainer.targets(), step);
    const auto loss = static_cast<float>(trainer.step(step + 1).loss);
    expect_close(std::span(&loss, 1), "loss of step " + std::to_string(step + 1));
  }
  EXPECT_EQ(next_, answers_.size());
}

std::vector<float> train_a_little(int threads, const std::string& optimizer, double dropout) {
  set_thread_count(threads);
  set_work_worth_a_thread(0);  // small as the model is, every loop is shared
  spec::ModelSpec spec = odd_model();
  spec.dropout = spec.attention_dropout = dropout;
  train::TrainingSpec training = odd_training();
  training.optimizer = optimizer;
  graph::Variables variables;
  train::Trainer trainer(spec, training, variables);
  Rng rng(3, 0);
  std::vector<float> result;
  for (int64_t step = 1; step <= 5; ++step) {
    for (int32_t& t : trainer.tokens().ints()) t = static_cast<int32_t>(rng.below(spec.vocabulary));
    for (int32_t& t : trainer.targets().ints()) t = static_cast<int32_t>(rng.below(spec.vocabulary));
    result.push_back(static_cast<float>(trainer.step(step).loss));
  }
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

// Only the last layer learns: the gradients are those of the whole model, and nothing is computed for the
// rest.
TEST(Gpt2, GradientsOfSomeParametersAreThoseOfAll) {
  const spec::ModelSpec spec = odd_model();
  const std::vector<std::string> some = {"h.0.mlp.c_proj.weight", "h.2.attn.c_attn.bias"};
  std::vector<std::vector<float>> results;
  for (const bool all : {true, false}) {
    auto g = std::make_shared<graph::Graph>();
    const model::Gpt2 model = model::gpt2_loss(*g, spec, {2, 9}, false);
    std::vector<graph::ValueId> wrt;
    for (const std::string& name : some) wrt.push_back(g->find(name));
    const auto gradients = ops::gradients(*g, model.loss, all ? g->of_role(graph::Role::kParameter) : wrt);
    g->mark_output(model.losses);
    for (graph::ValueId id : wrt) g->mark_output(gradients.at(id));
    g->tidy();
    graph::Variables variables;
    randomise(variables, *g);
    graph::Program program(g, variables);
    for (int32_t& token : program.input("tokens").ints())
      token = static_cast<int32_t>(&token - program.input("tokens").i32());
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
}

TEST(Gpt2, ScoringWithoutWeightsIsRefused) {
  graph::Variables none;
  EXPECT_THROW(train::Evaluator(odd_model(), {1, 4}, none), Error);
}

TEST(Gpt2, CountsWhatThePapersCount) {
  // the count of Javaheripi and others 2022: nonembedding = L (4 d^2 + 9 d) + sum_i f_i (2 d + 1) + 2 d
  const spec::ModelSpec spec = odd_model();
  graph::Graph g;
  g.mark_output(model::gpt2_logits(g, spec, {1, 20}, model::Weights::kPlain).logits);
  const int64_t d = 60, decoder = 3 * (4 * d * d + 9 * d) + (96 + 130 + 65) * (2 * d + 1) + 2 * d;
  EXPECT_EQ(graph::count(g).parameters, decoder + (101 + 20) * d);
}

TEST(Gpt2, PackedAndPlainWeightsStartAlike) {
  const spec::ModelSpec spec = odd_model();
  std::vector<std::vector<float>> results;
  for (const model::Weights weights : {model::Weights::kPlain, model::Weights::kPacked}) {
    auto g = std::make_shared<graph::Graph>();
    const model::Gpt2 model = model::gpt2_logits(*g, spec, {2, 9}, weights);
    g->mark_output(model.logits);
    g->tidy();
    graph::Variables variables;
    graph::Program program(g, variables);
    model::initialise_gpt2(*g, model, variables, spec, 7);
    for (int32_t& token : program.input("tokens").ints())
      token = static_cast<int32_t>(&token - program.input("tokens").i32());
    program.run();
    const auto logits = program.tensor(model.logits).floats();
    results.emplace_back(logits.begin(), logits.end());
  }
  for (size_t i = 0; i < results[0].size(); ++i) ASSERT_NEAR(results[0][i], results[1][i], 1e-5) << i;
}

TEST(Gpt2, RefusesWhatCannotBeBuilt) {
  const auto message = [](auto change, model::Batch batch = {1, 4}) {
    spec::ModelSpec spec = odd_model();
    change(spec);
    graph::Graph g;
    try {
      model::gpt2_logits(g, spec, batch, model::Weights::kPlain);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kUsage);
      return std::string(error.what());
    }
    return std::string("built");
  };
  EXPECT_NE(
      message([](auto& s) { s.heads = {7}; }).find("width 60 is not a multiple of heads 7; try 56 or 63"),
      std::string::npos);
  EXPECT_NE(message([](auto& s) { s.heads = {0}; }).find("heads is 0"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.inner = {8, 8}; }).find("2 entries for 3 layers"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.layers = 0; }).find("layers is 0"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.backbone = "gpt3"; }).find("gpt3"), std::string::npos);
  EXPECT_NE(message([](auto&) {}, {1, 21}).find("1 to 20 positions"), std::string::npos);
}

}  // namespace
}  // namespace heed
