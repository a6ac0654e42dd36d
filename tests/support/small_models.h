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
#include "tests/support/rounding.h"

namespace heed::test {

inline spec::ModelSpec small_model(const std::string& backbone, const std::string& arch) {
  spec::ModelSpec spec = spec::backbones().find(backbone).settings();
  spec.arch = arch;
  spec.width = 24;
  spec.sizes["heads"] = {3};
  spec.sizes["inner"] = {37};
  spec.sizes["projection"] = {18};
  spec.embedding.vocabulary = 29;
  spec.embedding.context = 32;
  spec.dropout = 0;
  return spec;
}

// Every letter there is, in a row.
inline std::string all_letters() {
  std::string all;
  for (const spec::Letter& row : spec::letters()) all += row.letter;
  return all;
}

// The usual first weights leave attention nearly uniform and alpha at 0.
inline model::Source weights_for_tests(const model::Weights& weights) {
  return [plain = weights.plain](const std::string& name, const Tensor& into) {
    uint32_t stream = 0;
    for (char c : name) stream = 31 * stream + static_cast<unsigned char>(c);
    Rng rng(5, stream);
    const bool gain = plain.at(name).group == WeightGroup::kNorm && name.ends_with(".weight");
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

// A model in one form, and where it stands in its text.
class Runner {
 public:
  Runner(const spec::ModelSpec& spec, const model::GraphForm& form, model::Source source = {}) : form_(form) {
    auto graph = std::make_shared<graph::Graph>();
    model_ = model::build(*graph, spec, form_);
    graph->mark_output(result());
    graph->tidy();
    program_ = std::make_unique<graph::Program>(graph, variables_);
    model::fill_weights(*graph, model_.weights, *variables_.parameters,
                        source ? source : weights_for_tests(model_.weights));
    cursor_ = std::make_unique<model::Cursor>(model_, form_, variables_.states);
    inputs_ = {*program_, model_.inputs};
    batch_ = batch_of(model_, *program_);
    cursor_->restart();
  }

  // The next segment, [B, T]: scores [B, T, V], or the losses [B*T] with `targets`.
  std::vector<float> run(std::span<const int32_t> tokens, std::span<const int32_t> targets = {}) {
    EXPECT_EQ(tokens.size(), static_cast<size_t>(form_.sequences * form_.length));
    std::copy(tokens.begin(), tokens.end(), batch_.ints("tokens").begin());
    std::copy(targets.begin(), targets.end(), batch_.ints("targets").begin());
    cursor_->prepare(inputs_, form_);
    program_->run();
    cursor_->advance(form_.length);
    const auto values = program_->tensor(result()).floats();
    return {values.begin(), values.end()};
  }

  // One sequence of any number of whole segments; scores of all of them.
  std::vector<float> run_all(std::span<const int32_t> tokens) {
    std::vector<float> all;
    const auto length = static_cast<size_t>(form_.length);
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
    return form_.end() == model::GraphEnd::kLoss ? model_.losses : model_.scores;
  }

  model::GraphForm form_;
  model::Model model_;
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
  model::InputSpans inputs_;
  Batch batch_;
  std::unique_ptr<model::Cursor> cursor_;
};

// The same formula in another order of sums, or in double. A value passes through at most five sums in each
// of six blocks (norm, product in, scores, mixture, product out), forward and back again, of up to 40 terms.
template <class Actual, class Expected>
void expect_equal_to_rounding(const Actual& actual, const Expected& expected, const std::string& what,
                              double floor = 1e-3) {
  expect_close(actual, expected, rounding_bound(40, 2 * 6 * 5), what, floor);
}

}  // namespace heed::test
