// Whole models of every letter against PyTorch in double (tests/oracle/letters.py): three segments with
// memory, logits, losses and every gradient; in every form a model is built in.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/model/cursor.h"
#include "heed/ops/ops.h"
#include "tests/support/letters_case.h"
#include "tests/support/oracle.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using model::Purpose;
using model::Use;
using test::small_model;
using test::weights_for_tests;

constexpr int64_t kSegments = 3, kBatch = 2, kLength = 5;

struct Case {
  std::string name;
  spec::ModelSpec spec;
  int64_t memory = 0;
  Visible visible = Visible::kAll;
  int64_t clamp = 0;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, spec::ModelSpec spec, int64_t memory,
                       Visible visible = Visible::kAll, int64_t clamp = 0) {
    all.push_back({name, std::move(spec), memory, visible, clamp});
  };
  add("Transformer-XL", small_model("transformer-xl", "(sf)x2"), 7);
  add("Transformer-XL without memory", small_model("transformer-xl", "(sf)x2"), 0);
  add("Transformer-XL, memory shorter than a segment", small_model("transformer-xl", "(sf)x2"), 3);
  add("Transformer-XL, clamped, same length", small_model("transformer-xl", "(sf)x2"), 7,
      Visible::kSameLength, 4);
  add("Transformer-XL, clamped, same length as its authors", small_model("transformer-xl", "(sf)x2"), 7,
      Visible::kSameLengthOriginal, 4);
  spec::ModelSpec spec = small_model("transformer-xl", "ssfsiff");
  spec.norm = Norm::kPre;
  spec.heads = {3, 2, 4};
  spec.head_width = 6;
  spec.inner = {37, 16, 48};
  spec.shared_position_bias = false;
  add("a pre-norm sandwich, every block different", spec, 7);
  spec = small_model("transformer-xl", "(sff)x2");
  spec.cutoffs = {9, 17};
  add("adaptive words in one table", spec, 7);
  spec.division = 2;
  spec.embedding_width = 20;
  spec.tie_projections = {false, true, true};
  add("adaptive words in narrower tables", spec, 7);
  spec.tie_weights = false;
  add("adaptive words, untied", spec, 7);
  spec = small_model("transformer-xl", "sf");
  spec.embedding_width = 10;
  add("a table narrower than the model", spec, 4);
  add("SRU++", small_model("sru++", "(a)x4"), 5);
  add("SRU++ with few attending", small_model("sru++", "(rra)x1 r"), 5);
  add("SRU++ in bands", small_model("sru++", "(ra)x2"), 6, Visible::kBand);
  spec = small_model("sru++", "(ar)x2");
  spec.projection_heads = 2;
  spec.projection = {18, 10, 12, 14};
  spec.rescale = true;
  add("SRU++ with two heads and a scaled highway", spec, 5);
  add("all letters", small_model("sru++", "sfriaf"), 6);
  spec = small_model("transformer-xl", "rsfaf");
  add("all letters, norm after", spec, 6);
  spec = small_model("transformer-xl", "(sfi)x3");
  spec.norm = Norm::kPre, spec.mix = 3;
  add("a supernet", spec, 6);
  spec = small_model("sru++", "(sfira)x2");
  spec.mix = 5;
  add("a supernet of all letters", spec, 6);
  spec = small_model("gpt2", "(sf)x2");
  add("GPT-2", spec, 0);
  spec.positions = Positions::kNone;
  add("GPT-2 without positions", spec, 7);
  add("GPT-2 without positions, in bands", spec, 7, Visible::kBand);
  spec.positions = Positions::kLearned;
  spec.arch = "srff";
  add("GPT-2 with a recurrence", spec, 0);
  spec.arch = "(sf)x2";
  spec.division = 4, spec.cutoffs = {11}, spec.output_bias = true, spec.embedding_width = 24;
  spec.tie_projections = {false, true};
  add("GPT-2 with adaptive words", spec, 0);
  return all;
}

std::vector<int32_t> tokens_of(const Case& c, int64_t segment, uint32_t stream) {
  Rng rng(static_cast<uint64_t>(100 + segment), stream);
  std::vector<int32_t> tokens(kBatch * kLength);
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng.below(c.spec.vocabulary));
  if (stream == 1) tokens[3] = -1;  // a target that does not count
  return tokens;
}

// Answers of PyTorch to all cases, asked for once.
class Answers {
 public:
  static const Answers& all() {
    static const Answers answers;
    return answers;
  }
  const std::string& missing() const { return missing_; }
  std::vector<double> read(const Json& at) const {
    size_t count = 1;
    for (const Json& dim : at["shape"]) count *= dim.get<size_t>();
    std::vector<double> values(count);
    std::memcpy(values.data(), numbers_.data() + at["offset"].get<size_t>(), 8 * count);
    return values;
  }
  const Json& of(const std::string& name) const {
    for (const Json& answer : json_["cases"]) {
      if (answer["name"] == name) return answer;
    }
    throw failure("no answer for ", name);
  }

 private:
  Answers() {
    const TemporaryFolder folder;
    test::NumbersFile numbers(folder / "numbers.bin");
    Json asked = Json::array();
    for (const Case& c : cases()) {
      Json settings = test::letters_settings(c.spec);
      settings["memory_length"] = c.memory;
      settings["clamp"] = c.clamp;
      settings["same_length"] = c.visible == Visible::kSameLength           ? "nv"
                                : c.visible == Visible::kSameLengthOriginal ? "orig"
                                                                            : "none";
      settings["window"] = c.visible == Visible::kBand ? c.memory : -1;
      const model::Weights weights = model::weights_of(c.spec);
      const Json parameters = numbers.write(weights, weights_for_tests(weights));
      Json segments = Json::array();
      for (int64_t segment = 0; segment < kSegments; ++segment)
        segments.push_back(
            {{"tokens", numbers.write(tokens_of(c, segment, 0).data(), {kBatch, kLength}, "i32")},
             {"targets", numbers.write(tokens_of(c, segment, 1).data(), {kBatch, kLength}, "i32")}});
      asked.push_back(
          {{"name", c.name}, {"settings", settings}, {"parameters", parameters}, {"segments", segments}});
    }
    numbers.close();
    std::ofstream(folder / "cases.json") << Json{{"cases", asked}};
    const std::string command =
        "/usr/bin/python3 -B " HEED_SOURCE_DIR "/tests/oracle/letters.py " + folder.path().string();
    if (std::system(command.c_str()) != 0) {
      missing_ = "PyTorch gave no answer: " + command;
      return;
    }
    std::ifstream answers(folder / "answers.json");
    json_ = Json::parse(answers);
    std::ifstream file(folder / "answers.bin", std::ios::binary);
    numbers_.assign(std::istreambuf_iterator<char>(file), {});
  }

  std::string missing_, numbers_;
  Json json_;
};

// Logits and log-probabilities tell the same.
template <class Number>
std::vector<Number> log_softmax(std::span<const Number> scores, int64_t vocabulary) {
  std::vector<Number> result(scores.begin(), scores.end());
  for (size_t begin = 0; begin < result.size(); begin += static_cast<size_t>(vocabulary)) {
    double sum = 0;
    for (int64_t v = 0; v < vocabulary; ++v)
      sum += std::exp(static_cast<double>(scores[begin + static_cast<size_t>(v)]));
    for (int64_t v = 0; v < vocabulary; ++v)
      result[begin + static_cast<size_t>(v)] -= static_cast<Number>(std::log(sum));
  }
  return result;
}

void expect_close(std::span<const float> actual, const std::vector<double>& expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 1e-3, worst = 0;  // gradients that are 0 but for rounding are held against this
  size_t where = 0;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(actual[i] - expected[i]);
    if (!(error <= worst)) worst = error, where = i;
  }
  // A value passes through some 40 sums of up to 40 terms, each off by a few roundings of its size.
  EXPECT_LE(worst, 2e-5 * largest) << what << " at " << where << ": expected " << expected[where] << ", is "
                                   << actual[where];
}

class Letters : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    set_thread_count(available_threads());
    const std::string& missing = Answers::all().missing();
    if (missing.empty()) return;
    if (test::oracle_required()) FAIL() << missing;
    GTEST_SKIP() << "!! NOT CHECKED against PyTorch: " << missing;
  }

  Use use(Purpose purpose, bool cached, bool packed) const {
    const Case& c = GetParam();
    Use use;
    use.purpose = purpose;
    use.sequences = kBatch, use.length = kLength, use.memory = c.memory;
    use.cached = cached, use.packed = packed;
    use.visible = c.visible, use.clamp = c.clamp;
    // Caches longer than need be, so that rows are moved in the third segment.
    if (cached) use.cache_rows = c.memory + kLength + 2, use.reach = c.memory + kLength;
    return use;
  }

  // Runs the three segments of the form; compares losses or scores.
  void check_forward(const Use& use) {
    const Case& c = GetParam();
    auto graph = std::make_shared<graph::Graph>();
    const model::Model model = model::build(*graph, c.spec, use);
    const bool losses = use.purpose == Purpose::kLoss;
    graph->mark_output(losses ? model.losses : model.scores);
    graph->tidy();
    graph::Variables variables;
    graph::Program program(graph, variables);
    model::fill_weights(*graph, model.weights, variables, weights_for_tests(model.weights));
    model::Cursor cursor(model, use, variables);
    cursor.restart();
    const Json& answer = Answers::all().of(c.name);
    ASSERT_FALSE(answer.contains("error")) << answer["error"];
    for (int64_t segment = 0; segment < kSegments; ++segment) {
      const auto tokens = tokens_of(c, segment, 0), targets = tokens_of(c, segment, 1);
      std::copy(tokens.begin(), tokens.end(), program.input("tokens").ints().begin());
      if (losses) std::copy(targets.begin(), targets.end(), program.input("targets").ints().begin());
      cursor.place(program, use);
      program.run();
      cursor.advance(kLength);
      const Json& expected = answer["segments"][static_cast<size_t>(segment)];
      const std::vector<double> right = Answers::all().read(expected[losses ? "losses" : "logits"]);
      const std::span<const float> actual = program.tensor(losses ? model.losses : model.scores).floats();
      const int64_t V = c.spec.vocabulary;
      expect_close(losses ? std::vector<float>(actual.begin(), actual.end()) : log_softmax(actual, V),
                   losses ? right : log_softmax(std::span(right), V),
                   text(losses ? "losses" : "scores", use.cached ? ", cached" : "",
                        use.packed ? ", packed" : "", ", segment ", segment));
    }
  }
};

TEST_P(Letters, LossesAndScoresInEveryForm) {
  const bool learned = GetParam().spec.positions == Positions::kLearned;
  for (const bool cached : {false, true}) {
    if (cached && learned) continue;  // places of a cache go on, segments of the oracle begin again
    for (const bool packed : {false, true}) {
      check_forward(use(Purpose::kLoss, cached, packed));
      check_forward(use(Purpose::kScores, cached, packed));
    }
  }
}

TEST_P(Letters, EveryGradientOfTheThirdSegment) {
  const Case& c = GetParam();
  const Use use = this->use(Purpose::kLoss, false, false);
  auto graph = std::make_shared<graph::Graph>();
  const model::Model model = model::build(*graph, c.spec, use);
  const auto gradients = ops::gradients(*graph, model.loss, graph->of_role(graph::Role::kParameter));
  graph->mark_output(model.loss);
  for (const auto& [parameter, gradient] : gradients) graph->mark_output(gradient);
  graph->tidy();
  graph::Variables variables;
  graph::Program program(graph, variables);
  model::fill_weights(*graph, model.weights, variables, weights_for_tests(model.weights));
  model::Cursor cursor(model, use, variables);
  for (int64_t segment = 0; segment < kSegments; ++segment) {
    const auto tokens = tokens_of(c, segment, 0), targets = tokens_of(c, segment, 1);
    std::copy(tokens.begin(), tokens.end(), program.input("tokens").ints().begin());
    std::copy(targets.begin(), targets.end(), program.input("targets").ints().begin());
    cursor.place(program, use);
    program.run();
    cursor.advance(kLength);
  }
  const Json& answer = Answers::all().of(c.name);
  ASSERT_FALSE(answer.contains("error")) << answer["error"];
  expect_close(program.tensor(model.loss).floats(),
               Answers::all().read(answer["segments"][kSegments - 1]["mean"]), "mean loss");
  EXPECT_EQ(gradients.size(), answer["gradients"].size());
  for (const auto& [parameter, gradient] : gradients) {
    const std::string& name = graph->value(parameter).name;
    expect_close(program.tensor(gradient).floats(), Answers::all().read(answer["gradients"][name]),
                 "gradient of " + name);
  }
}

INSTANTIATE_TEST_SUITE_P(Model, Letters, testing::ValuesIn(cases()), [](const auto& given) {
  std::string name = given.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace heed
