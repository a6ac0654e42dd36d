// Whole models of every letter against PyTorch in double (tests/oracle/letters.py): three segments with
// memory, logits, losses and every gradient; in every form a model is built in.
#include <gtest/gtest.h>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/model/cursor.h"
#include "heed/ops/ops.h"
#include "tests/support/letters_case.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using model::GraphEnd;
using model::GraphForm;
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
  spec.sizes["heads"] = {3, 2, 4};
  spec.attention.head_width = 6;
  spec.sizes["inner"] = {37, 16, 48};
  spec.attention.shared_position_bias = false;
  add("a pre-norm sandwich, every block different", spec, 7);
  spec = small_model("transformer-xl", "(sff)x2");
  spec.embedding.cutoffs = {9, 17};
  add("adaptive words in one table", spec, 7);
  spec.embedding.division = 2;
  spec.embedding.width = 20;
  spec.head.tie_projections = {false, true, true};
  add("adaptive words in narrower tables", spec, 7);
  spec.head.tie_weights = false;
  add("adaptive words, untied", spec, 7);
  spec = small_model("transformer-xl", "sf");
  spec.embedding.width = 10;
  add("a table narrower than the model", spec, 4);
  spec.head.tie_projections = {false};
  add("a table narrower than the model, the output's projection its own", spec, 4);
  spec.embedding.cutoffs = {9, 17};
  add("adaptive words in one narrower table, every projection of the output its own", spec, 4);
  spec.head.tie_projections = {false, true, true};
  add("adaptive words in one narrower table, the projection of the head its own", spec, 4);
  spec.head.tie_projections = {true, false, true};
  add("adaptive words in one narrower table, the projection of a tail its own", spec, 4);
  spec.head.tie_projections = {true};
  add("adaptive words in one narrower table, tied", spec, 4);
  add("SRU++", small_model("sru++", "(a)x4"), 5);
  add("SRU++ with few attending", small_model("sru++", "(rra)x1 r"), 5);
  add("SRU++ in bands", small_model("sru++", "(ra)x2"), 6, Visible::kBand);
  spec = small_model("sru++", "(ar)x2");
  spec.recurrence.heads = 2;
  spec.sizes["projection"] = {18, 10, 12, 14};
  spec.recurrence.rescale = true;
  add("SRU++ with two heads and a scaled highway", spec, 5);
  add("all letters", small_model("sru++", test::all_letters()), 6);
  spec = small_model("transformer-xl", test::all_letters() + test::all_letters());
  add("all letters twice, norm after", spec, 6);
  spec = small_model("transformer-xl", "(sfi)x3");
  spec.norm = Norm::kPre, spec.mix = 3;
  add("a supernet", spec, 6);
  spec = small_model("sru++", "(" + test::all_letters() + ")x2");
  spec.mix = static_cast<int64_t>(test::all_letters().size());
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
  spec.embedding.division = 4, spec.embedding.cutoffs = {11}, spec.head.bias = true,
  spec.embedding.width = 24;
  spec.head.tie_projections = {false, true};
  add("GPT-2 with adaptive words", spec, 0);
  spec.embedding.division = 1, spec.embedding.width = 10;
  add("GPT-2 with adaptive words in one narrower table", spec, 0);
  return all;
}

std::vector<int32_t> tokens_of(const Case& c, int64_t segment, uint32_t stream) {
  Rng rng(static_cast<uint64_t>(100 + segment), stream);
  std::vector<int32_t> tokens(kBatch * kLength);
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng.below(c.spec.embedding.vocabulary));
  if (stream == 1) tokens[3] = -1;  // a target that does not count
  return tokens;
}

// Answers of PyTorch to all cases, asked for once.
const test::PyTorch& pytorch() {
  static const test::PyTorch answered = [] {
    test::PyTorch asked("letters.py");
    Json questions = Json::array();
    for (const Case& c : cases()) {
      Json settings = test::letters_settings(c.spec);
      settings["memory_length"] = c.memory;
      settings["clamp"] = c.clamp;
      settings["same_length"] = c.visible == Visible::kSameLength           ? "nv"
                                : c.visible == Visible::kSameLengthOriginal ? "orig"
                                                                            : "none";
      settings["band"] = c.visible == Visible::kBand ? c.memory : -1;
      const model::Weights weights = model::weights_of(c.spec);
      const Json parameters = test::write_weights(asked, weights, weights_for_tests(weights));
      const auto tokens = [&](int64_t segment, uint32_t stream) {
        return asked.write(tokens_of(c, segment, stream).data(), {{kBatch, kLength}, DType::kI32});
      };
      Json segments = Json::array();
      for (int64_t segment = 0; segment < kSegments; ++segment)
        segments.push_back({{"tokens", tokens(segment, 0)}, {"targets", tokens(segment, 1)}});
      questions.push_back(
          {{"name", c.name}, {"settings", settings}, {"parameters", parameters}, {"segments", segments}});
    }
    asked.ask(questions);
    return asked;
  }();
  return answered;
}

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

class Letters : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    set_thread_count(available_threads());
    HEED_NEEDS_ORACLE(pytorch().missing());
  }

  GraphForm form(GraphEnd end, bool cached, bool packed) const {
    const Case& c = GetParam();
    // Caches longer than need be, so that rows are moved in the third segment.
    const int64_t M = c.memory, T = kLength;
    return {.purpose =
                model::Inference{.end = end,
                                 .weights = packed ? model::WeightForm::kPacked : model::WeightForm::kPlain,
                                 .past = cached ? model::cache(M, M + T + 2) : model::memory(M),
                                 .protocol = {c.visible, c.clamp, cached ? M + T : 0}},
            .sequences = kBatch,
            .length = T};
  }

  // A value passes through at most five sums in each block (norm, product in, scores, mixture, product out),
  // forward and back again. The longest are those of one weight's gradient over all rows of a batch.
  template <class Actual>
  void check(const Actual& actual, const std::vector<double>& right, const std::string& what) const {
    const spec::ModelSpec& spec = GetParam().spec;
    const auto blocks = static_cast<int64_t>(spec.letters().size());
    test::expect_close(actual, right, test::rounding_bound(kBatch * kLength * spec.width, 2 * 5 * blocks),
                       what);
  }

  // Runs the three segments of the form; compares losses or scores.
  void check_forward(const GraphForm& form) {
    const Case& c = GetParam();
    const bool losses = form.end() == GraphEnd::kLoss;
    test::Runner runner(c.spec, form);
    const Json& answer = pytorch().answer(c.name);
    for (int64_t segment = 0; segment < kSegments; ++segment) {
      const auto tokens = tokens_of(c, segment, 0), targets = tokens_of(c, segment, 1);
      const std::vector<float> actual = losses ? runner.run(tokens, targets) : runner.run(tokens);
      const Json& expected = answer["segments"][static_cast<size_t>(segment)];
      const std::vector<double> right = pytorch().read(expected[losses ? "losses" : "logits"]);
      const int64_t V = c.spec.embedding.vocabulary;
      check(losses ? actual : log_softmax(std::span(actual), V),
            losses ? right : log_softmax(std::span(right), V),
            text(losses ? "losses" : "scores", form.caches() ? ", cached" : "",
                 form.packs() ? ", packed" : "", ", segment ", segment));
    }
  }
};

TEST_P(Letters, LossesAndScoresInEveryForm) {
  const bool learned = GetParam().spec.positions == Positions::kLearned;
  for (const bool cached : {false, true}) {
    if (cached && learned) continue;  // places of a cache go on, segments of the oracle begin again
    for (const bool packed : {false, true}) {
      check_forward(form(GraphEnd::kLoss, cached, packed));
      check_forward(form(GraphEnd::kScores, cached, packed));
    }
  }
}

TEST_P(Letters, EveryGradientOfTheThirdSegment) {
  const Case& c = GetParam();
  const GraphForm form = this->form(GraphEnd::kLoss, false, false);
  auto graph = std::make_shared<graph::Graph>();
  const model::Model model = model::build(*graph, c.spec, form);
  const auto gradients = ops::gradients(*graph, model.loss, graph->of_role(graph::Role::kParameter));
  graph->mark_output(model.loss);
  for (const auto& [parameter, gradient] : gradients) graph->mark_output(gradient);
  graph->tidy();
  graph::Variables variables;
  graph::Program program(graph, variables);
  model::fill_weights(*graph, model.weights, *variables.parameters, weights_for_tests(model.weights));
  const model::InputSpans inputs(program, model.inputs);
  const Batch batch = batch_of(model, program);
  model::Cursor cursor(model, form, variables.states);
  for (int64_t segment = 0; segment < kSegments; ++segment) {
    const auto tokens = tokens_of(c, segment, 0), targets = tokens_of(c, segment, 1);
    std::copy(tokens.begin(), tokens.end(), batch.ints("tokens").begin());
    std::copy(targets.begin(), targets.end(), batch.ints("targets").begin());
    cursor.prepare(inputs, form);
    program.run();
    cursor.advance(kLength);
  }
  const Json& answer = pytorch().answer(c.name);
  check(program.tensor(model.loss).floats(), pytorch().read(answer["segments"][kSegments - 1]["mean"]),
        "mean loss");
  EXPECT_EQ(gradients.size(), answer["gradients"].size());
  for (const auto& [parameter, gradient] : gradients) {
    const std::string& name = graph->value(parameter).name;
    check(program.tensor(gradient).floats(), pytorch().read(answer["gradients"][name]),
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
