// Small models of every family, with weights at which every part matters, run segment by segment.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/philox.h"
#include "heed/model/cursor.h"

namespace heed::test {

inline spec::ModelSpec small_model(const std::string& backbone, const std::string& arch) {
  spec::ModelSpec spec = spec::backbones().find(backbone).settings();
  spec.arch = arch;
  spec.width = 24;
  spec.heads = {3};
  spec.inner = {37};
  spec.projection = {18};
  spec.vocabulary = 29;
  spec.context = 32;
  spec.dropout = 0;
  return spec;
}

// The usual first weights leave attention nearly uniform and alpha at 0.
inline model::Source weights_for_tests(const model::Weights& weights) {
  return [plain = weights.plain](const std::string& name, const Tensor& into) {
    uint32_t stream = 0;
    for (char c : name) stream = 31 * stream + static_cast<unsigned char>(c);
    Rng rng(5, stream);
    const bool gain = plain.at(name).part == Part::kNorm && name.ends_with(".weight");
    const double size = name.ends_with("alpha") ? 1 : 0.2;
    for (float& w : into.floats()) w = static_cast<float>((gain ? 1 : 0) + size * rng.normal());
  };
}

inline std::vector<int32_t> random_tokens(int64_t count, int64_t vocabulary, uint32_t stream = 0) {
  Rng rng(23, stream);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng.below(vocabulary));
  return tokens;
}

// A model as it is built for one use, and where it stands in its text.
class Runner {
 public:
  Runner(const spec::ModelSpec& spec, const model::Use& use, model::Source source = {}) : use_(use) {
    auto graph = std::make_shared<graph::Graph>();
    model_ = model::build(*graph, spec, use_);
    graph->mark_output(result());
    graph->tidy();
    program_ = std::make_unique<graph::Program>(graph, variables_);
    model::fill_weights(*graph, model_.weights, variables_,
                        source ? source : weights_for_tests(model_.weights));
    cursor_ = std::make_unique<model::Cursor>(model_, use_, variables_);
    cursor_->restart();
  }

  // The next segment, [B, T]: scores [B, T, V], or the losses [B*T] with `targets`.
  std::vector<float> run(std::span<const int32_t> tokens, std::span<const int32_t> targets = {}) {
    EXPECT_EQ(tokens.size(), static_cast<size_t>(use_.sequences * use_.length));
    std::copy(tokens.begin(), tokens.end(), program_->input("tokens").ints().begin());
    if (!targets.empty())
      std::copy(targets.begin(), targets.end(), program_->input("targets").ints().begin());
    cursor_->place(*program_, use_);
    program_->run();
    cursor_->advance(use_.length);
    const auto values = program_->tensor(result()).floats();
    return {values.begin(), values.end()};
  }

  // One sequence of any number of whole segments; scores of all of them.
  std::vector<float> run_all(std::span<const int32_t> tokens) {
    std::vector<float> all;
    const auto length = static_cast<size_t>(use_.length);
    for (size_t at = 0; at < tokens.size(); at += length) {
      const std::vector<float> part = run(tokens.subspan(at, length));
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  void restart() { cursor_->restart(); }
  const model::Model& model() const { return model_; }
  const graph::Variables& variables() const { return variables_; }

 private:
  graph::ValueId result() const {
    return use_.purpose == model::Purpose::kLoss ? model_.losses : model_.scores;
  }

  model::Use use_;
  model::Model model_;
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
  std::unique_ptr<model::Cursor> cursor_;
};

// The same formula in another order of sums: a value passes through some 40 sums of up to 40 terms, each off
// by a few roundings of its size, which counts as `floor` at least.
inline void expect_equal_to_rounding(std::span<const float> actual, std::span<const float> expected,
                                     const std::string& what, double floor = 1e-3) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = floor, worst = 0;
  size_t where = 0;
  for (float value : expected) largest = std::max(largest, static_cast<double>(std::abs(value)));
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (!(error <= worst)) worst = error, where = i;
  }
  EXPECT_LE(worst, 2e-5 * largest) << what << " at " << where << ": expected " << expected[where] << ", is "
                                   << actual[where];
}

}  // namespace heed::test
