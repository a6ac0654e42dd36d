// Encoders with padding against PyTorch in double (tests/oracle/letters.py), in every form they are built in,
// and laws that hold without it.
#include <gtest/gtest.h>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/ops/ops.h"
#include "tests/support/letters_case.h"
#include "tests/support/messages.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using model::GraphEnd;
using model::GraphForm;
using test::small_model;
using test::weights_for_tests;

constexpr int64_t kBatch = 3, kLength = 9;
constexpr int64_t kTexts[kBatch] = {9, 4, 1};  // tokens of each; the rest is padding

using Ints = std::map<std::string, std::vector<int32_t>>;

struct Case {
  std::string name;
  spec::ModelSpec spec;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  spec::ModelSpec spec = small_model("bert", "(sf)x2");
  spec.attention.dropout = 0;
  all.push_back({"a vector for each token", spec});
  spec.head.kind = "bert";
  all.push_back({"BERT", spec});
  spec.arch = "(sff)x2 f";
  all.push_back({"PAR BERT", spec});
  spec.head.kind = "masked-token";
  spec.embedding.types = 0;
  all.push_back({"DistilBERT", spec});
  spec.arch = "ssfsff";
  spec.norm = Norm::kPre, spec.final_norm = true;
  spec.feed_forward.activation = InnerActivation::kGeluTanh;
  spec.sizes["heads"] = {3, 2, 4};
  spec.sizes["inner"] = {37, 16, 48};
  spec.embedding.types = 3;
  all.push_back({"norm before, every block different", spec});
  spec.positions = Positions::kNone;
  spec.head.tie_weights = false;
  all.push_back({"without positions, untied", spec});
  return all;
}

// What a model reads. Tokens, types and targets of padding are any: they must not matter.
Ints inputs_of(const spec::ModelSpec& spec) {
  const auto drawn = [](uint32_t stream, int64_t below, int64_t count = kBatch * kLength) {
    return test::random_tokens(count, below, stream);
  };
  Ints all = {{"tokens", drawn(1, spec.embedding.vocabulary)},
              {"targets", drawn(2, spec.embedding.vocabulary)},
              {"padding", std::vector<int32_t>(kBatch * kLength)},
              {"next_sentence", drawn(3, 2, kBatch)}};
  if (spec.embedding.types > 0) all["types"] = drawn(4, spec.embedding.types);
  for (size_t i = 0; i < kBatch * kLength; ++i) {
    all["padding"][i] = static_cast<int64_t>(i) % kLength >= kTexts[i / kLength];
    if (all["padding"][i] || i % 3 == 1) all["targets"][i] = -1;  // no mask here
  }
  return all;
}

const test::PyTorch& pytorch() {
  static const test::PyTorch answered = [] {
    test::PyTorch asked("letters.py");
    Json questions = Json::array();
    for (const Case& c : cases()) {
      const model::Weights weights = model::weights_of(c.spec);
      Json segment = Json::object();
      for (const auto& [name, ints] : inputs_of(c.spec)) {
        const Shape shape = ints.size() == kBatch ? Shape{kBatch} : Shape{kBatch, kLength};
        segment[name] = asked.write(ints.data(), {shape, DType::kI32});
      }
      questions.push_back({{"name", c.name},
                           {"settings", test::letters_settings(c.spec)},
                           {"parameters", test::write_weights(asked, weights, weights_for_tests(weights))},
                           {"segments", {segment}}});
    }
    asked.ask(questions);
    return asked;
  }();
  return answered;
}

GraphForm form(GraphEnd end, bool packed, int64_t length = kLength) {
  return {model::Inference{.end = end,
                           .weights = packed ? model::WeightForm::kPacked : model::WeightForm::kPlain},
          kBatch, length};
}

// A model, run once; the values of the ids that `wanted` picks.
template <class Wanted>
std::vector<std::vector<float>> run(const spec::ModelSpec& spec, const GraphForm& form, const Ints& inputs,
                                    const Wanted& wanted) {
  auto graph = std::make_shared<graph::Graph>();
  const model::Model model = model::build(*graph, spec, form);
  const std::vector<graph::ValueId> ids = wanted(*graph, model);
  for (graph::ValueId id : ids) graph->mark_output(id);
  graph->tidy();
  graph::Variables variables;
  graph::Program program(graph, variables);
  model::fill_weights(*graph, model.weights, *variables.parameters, weights_for_tests(model.weights));
  set_position(model::InputSpans(program, model.inputs), form, {});
  const Batch batch = batch_of(model, program);
  for (const auto& [name, to] : batch.all()) {
    EXPECT_EQ(to.ints().size(), inputs.at(name).size()) << name;
    std::ranges::copy(inputs.at(name), to.ints().begin());
  }
  program.run();
  std::vector<std::vector<float>> values;
  for (graph::ValueId id : ids) {
    const auto floats = program.tensor(id).floats();
    values.emplace_back(floats.begin(), floats.end());
  }
  return values;
}

std::vector<float> scores(const spec::ModelSpec& spec, const GraphForm& form, const Ints& inputs) {
  return run(spec, form, inputs,
             [](auto&, const model::Model& model) { return std::vector{model.scores}; })[0];
}

class Encoder : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    set_thread_count(available_threads());
    HEED_NEEDS_ORACLE(pytorch().missing());
  }
  bool has_loss() const { return GetParam().spec.head.kind != "hidden"; }

  // As in letters_test.cpp: five sums in each block, forward and back.
  template <class Actual>
  void check(const Actual& actual, const Json& right, const std::string& what) const {
    const spec::ModelSpec& spec = GetParam().spec;
    const auto blocks = static_cast<int64_t>(spec.letters().size());
    test::expect_close(actual, pytorch().read(right),
                       test::rounding_bound(kBatch * kLength * spec.width, 2 * 5 * blocks), what);
  }
};

TEST_P(Encoder, ScoresInEveryForm) {
  const spec::ModelSpec& spec = GetParam().spec;
  const Json& answer = pytorch().answer(GetParam().name)["segments"][0];
  for (const bool packed : {false, true})
    check(scores(spec, form(GraphEnd::kScores, packed), inputs_of(spec)), answer["logits"],
          packed ? "scores, packed" : "scores");
}

TEST_P(Encoder, LossesAndEveryGradient) {
  if (!has_loss()) return;
  const spec::ModelSpec& spec = GetParam().spec;
  const Json& answer = pytorch().answer(GetParam().name);
  std::vector<std::string> names;
  const auto values = run(spec, form(GraphEnd::kLoss, false), inputs_of(spec),
                          [&](graph::Graph& graph, const model::Model& model) {
                            std::vector ids = {model.losses, model.loss};
                            for (const auto& [parameter, gradient] :
                                 ops::gradients(graph, model.loss, graph.of_role(graph::Role::kParameter))) {
                              names.push_back(graph.value(parameter).name);
                              ids.push_back(gradient);
                            }
                            return ids;
                          });
  check(values[0], answer["segments"][0]["losses"], "losses");
  check(values[1], answer["segments"][0]["mean"], "mean loss");
  EXPECT_EQ(names.size(), answer["gradients"].size());
  EXPECT_EQ(names.size(), model::weights_of(spec).plain.size());
  for (size_t i = 0; i < names.size(); ++i)
    check(values[i + 2], answer["gradients"][names[i]], "gradient of " + names[i]);
}

INSTANTIATE_TEST_SUITE_P(Model, Encoder, testing::ValuesIn(cases()), [](const auto& given) {
  std::string name = given.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

// Each token of a text changes all others, and what stands in the padding none.
TEST(EncoderLaws, TokensSeeAllOthersButNoPadding) {
  const spec::ModelSpec spec = cases()[0].spec;
  const auto D = static_cast<size_t>(spec.width);
  const Ints inputs = inputs_of(spec);
  const std::vector<float> before = scores(spec, form(GraphEnd::kScores, true), inputs);
  for (size_t changed = 0; changed < kBatch * kLength; ++changed) {
    Ints other = inputs;
    other["tokens"][changed] = (other["tokens"][changed] + 1) % 29;
    const std::vector<float> after = scores(spec, form(GraphEnd::kScores, true), other);
    for (size_t token = 0; token < kBatch * kLength; ++token) {
      const bool same = std::equal(before.begin() + static_cast<std::ptrdiff_t>(token * D),
                                   before.begin() + static_cast<std::ptrdiff_t>((token + 1) * D),
                                   after.begin() + static_cast<std::ptrdiff_t>(token * D));
      const bool seen = changed / kLength == token / kLength && !inputs.at("padding")[changed];
      EXPECT_EQ(same, !(seen || changed == token)) << "token " << changed << " and " << token;
    }
  }
}

// More padding behind the texts changes nothing.
TEST(EncoderLaws, LengthOfThePaddingChangesNothing) {
  constexpr int64_t kMore = kLength + 14;
  const spec::ModelSpec spec = cases()[0].spec;
  const Ints inputs = inputs_of(spec);
  Ints longer;
  for (const auto& [name, ints] : inputs) {
    longer[name].assign(kBatch * kMore, name == "padding");
    if (ints.size() != kBatch * kLength) continue;
    for (size_t b = 0; b < kBatch; ++b)
      std::copy_n(ints.begin() + static_cast<std::ptrdiff_t>(b * kLength), kLength,
                  longer[name].begin() + static_cast<std::ptrdiff_t>(b * kMore));
  }
  const std::vector<float> tight = scores(spec, form(GraphEnd::kScores, true), inputs),
                           loose = scores(spec, form(GraphEnd::kScores, true, kMore), longer);
  for (int64_t b = 0; b < kBatch; ++b) {
    const std::span right(tight.data() + b * kLength * spec.width,
                          static_cast<size_t>(kTexts[b] * spec.width));
    test::expect_equal_to_rounding(std::span(loose.data() + b * kMore * spec.width, right.size()), right,
                                   heed::text("sequence ", b));
  }
}

TEST(EncoderErrors, WhatMakesNoSense) {
  const auto built = [](const std::function<void(spec::ModelSpec&)>& spoil, const GraphForm& form) {
    spec::ModelSpec spec = small_model("bert", "(sf)x2");
    spoil(spec);
    graph::Graph graph;
    model::build(graph, spec, form);
  };
  const auto nothing = [](auto&) {};
  const GraphForm whole = form(GraphEnd::kScores, false);
  built(nothing, whole);
  EXPECT_SAYS(built([](auto& s) { s.head.kind = "next-token"; }, whole),
              "which every token of an encoder sees");
  EXPECT_SAYS(built([](auto& s) { s.positions = Positions::kRelative; }, whole), "learned positions or none");
  EXPECT_SAYS(built([](auto& s) { s.arch = "sfr"; }, whole), "block 2 reads its text from left to right");
  EXPECT_SAYS(built([](auto& s) { s.arch = "saf"; }, whole), "block 1 reads its text from left to right");
  EXPECT_SAYS(built(nothing, model::prompt_form(7)), "continues no text");
  EXPECT_SAYS(
      built(nothing, model::recomputing_form({1, 4, 4}, GraphEnd::kScores, model::WeightForm::kPlain)),
      "keeps no memory of earlier ones");
  EXPECT_SAYS(built(nothing, model::observation_form(1, 7)), "the head hidden has no loss");
  EXPECT_SAYS(built(nothing, {model::Training{}, 1, 7}), "the head hidden has no loss");
  EXPECT_SAYS(built(nothing, form(GraphEnd::kScores, false, 33)), "1 to 32 positions");
  EXPECT_SAYS(built([](auto& s) { s.embedding.types = -1; }, whole), "types is -1");
}

}  // namespace
}  // namespace heed
