// Laws that hold for every architecture string of a decoder, whatever its numbers are. Every letter there is
// comes by, in every backbone that has one, before and after the norm: a new one is held to them without a
// line here.
#include <gtest/gtest.h>

#include "heed/train/training.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using model::GraphForm;
using test::expect_equal_to_rounding;
using test::random_tokens;
using test::Runner;
using test::small_model;

struct Case {
  std::string backbone, arch;
  Norm norm;
  bool placeless = false;

  spec::ModelSpec spec() const {
    spec::ModelSpec spec = small_model(backbone, arch);
    spec.norm = norm;
    if (placeless) spec.positions = Positions::kNone;
    return spec;
  }
  bool learned() const { return spec().positions == Positions::kLearned; }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const std::string letters = test::all_letters();
  for (const spec::Backbone& backbone : spec::backbones()) {
    if (backbone.settings().stack != "decoder") continue;  // encoder_test.cpp
    for (const auto& [norm, name] : EnumNames<Norm>::names) {
      for (const char letter : letters) all.push_back({backbone.name, std::string(2, letter), norm});
      all.push_back({backbone.name, letters, norm});
      all.push_back({backbone.name, std::string(letters.rbegin(), letters.rend()), norm});
      if (all.back().learned()) all.push_back({backbone.name, letters, norm, true});
    }
  }
  return all;
}

GraphForm scores(int64_t length, int64_t memory, bool cached, int64_t sequences = 1) {
  return {model::Inference{.end = model::GraphEnd::kScores,
                           .past = cached ? model::cache(memory) : model::memory(memory)},
          sequences, length};
}

// The same with other settings.
template <class Change>
GraphForm changed(GraphForm form, const Change& change) {
  change(std::get<model::Inference>(form.purpose));
  return form;
}

model::WeightForm packed_or_not(bool packed) {
  return packed ? model::WeightForm::kPacked : model::WeightForm::kPlain;
}

class Laws : public testing::TestWithParam<Case> {
 protected:
  const spec::ModelSpec spec_ = GetParam().spec();
  const int64_t V_ = spec_.embedding.vocabulary;

  // Learned places begin again with every segment unless there are caches: then nothing is carried on.
  std::vector<bool> forms_with_memory() const {
    return GetParam().learned() ? std::vector<bool>{true} : std::vector<bool>{false, true};
  }
};

// A small step down the slope of a batch makes its loss smaller.
TEST_P(Laws, AStepOfTrainingHelps) {
  spec::TrainingSpec training;
  training.batch = 2, training.length = 7, training.memory = GetParam().learned() ? 0 : 7;
  training.optimizer = "adam", training.learning_rate = 1e-3, training.schedule = "constant";
  const train::Trainer::Fill batch = [&](int64_t, const Batch& to) {
    const auto tokens = to.ints("tokens"), targets = to.ints("targets");
    const auto ids = random_tokens(14, V_), next = random_tokens(14, V_, 1);
    std::copy(ids.begin(), ids.end(), tokens.begin());
    std::copy(next.begin(), next.end(), targets.begin());
  };
  graph::Variables variables;
  train::Trainer trainer(spec_, training, variables);
  const double before = trainer.step(1, 0, batch).loss, after = trainer.step(2, 0, batch).loss;
  EXPECT_TRUE(std::isfinite(before)) << before;
  EXPECT_LT(after, before);
}

TEST_P(Laws, TheFutureChangesNothing) {
  constexpr int64_t kLength = 11;
  const std::vector<int32_t> past = random_tokens(2 * kLength, V_, 1);
  for (const bool cached : forms_with_memory()) {
    Runner runner(spec_, scores(kLength, kLength, cached, 2));
    const std::vector<int32_t> tokens = random_tokens(2 * kLength, V_);
    const auto after_past = [&](const std::vector<int32_t>& now) {
      runner.restart();
      runner.run(past);
      return runner.run(now);
    };
    const std::vector<float> before = after_past(tokens);
    for (const int64_t last : {0, 1, 4, 9}) {
      std::vector<int32_t> changed = tokens;
      for (int64_t t = last + 1; t < kLength; ++t) {
        int32_t& token = changed[static_cast<size_t>(kLength + t)];  // of the second sequence
        token = static_cast<int32_t>((token + 1 + t) % V_);
      }
      const std::vector<float> after = after_past(changed);
      const auto seen = static_cast<std::ptrdiff_t>((kLength + last + 1) * V_);
      EXPECT_TRUE(std::equal(before.begin(), before.begin() + seen, after.begin()))
          << "tokens after " << last << " change what came before, cached: " << cached;
      EXPECT_FALSE(std::equal(before.begin() + seen, before.end(), after.begin() + seen)) << last;
    }
  }
}

TEST_P(Laws, SegmentsWithFullMemoryEqualOneLongPass) {
  const std::vector<int32_t> tokens = random_tokens(12, V_);
  const std::vector<float> whole = Runner(spec_, scores(12, 0, false)).run(tokens);
  for (const bool cached : forms_with_memory()) {
    for (const int64_t length : {6, 4, 1}) {
      expect_equal_to_rounding(Runner(spec_, scores(length, 12, cached)).run_all(tokens), whole,
                               text("segments of ", length, cached ? ", cached" : ""));
    }
    if (cached) expect_equal_to_rounding(Runner(spec_, scores(12, 0, true)).run(tokens), whole, "in one");
  }
}

// With a memory shorter than the text, caches drop rows: with little room to spare in every run, with more
// now and then.
TEST_P(Laws, CachedEqualsRecomputed) {
  if (GetParam().learned()) GTEST_SKIP() << "learned places have no memory but caches";
  const std::vector<int32_t> tokens = random_tokens(40, V_);
  for (const auto& [length, memory] : {std::pair{5, 7}, {5, 3}, {4, 9}, {1, 6}, {8, 0}}) {
    const std::vector<float> recomputed = Runner(spec_, scores(length, memory, false)).run_all(tokens);
    for (const int64_t room : {0, 1, 6}) {
      for (const bool packed : {false, true}) {
        const GraphForm form = changed(scores(length, memory, true), [&](model::Inference& inference) {
          inference.past.rows = memory + length + room, inference.protocol.reach = memory + length;
          inference.weights = packed_or_not(packed);
        });
        expect_equal_to_rounding(
            Runner(spec_, form).run_all(tokens), recomputed,
            text(length, " tokens, memory ", memory, ", room ", room, packed ? ", packed" : ""));
      }
    }
  }
}

TEST_P(Laws, TheNextTokenIsTheLastRowOfAllScores) {
  const std::vector<int32_t> tokens = random_tokens(12, V_);
  const std::vector<float> whole = Runner(spec_, scores(12, 0, false)).run(tokens);
  for (const bool packed : {false, true}) {
    const GraphForm form = changed(scores(1, 12, true), [&](model::Inference& inference) {
      inference.end = model::GraphEnd::kNextToken, inference.weights = packed_or_not(packed);
    });
    expect_equal_to_rounding(Runner(spec_, form).run_all(tokens), whole, packed ? "packed" : "plain");
  }
}

TEST_P(Laws, IdentityBlocksChangeNothing) {
  const std::string letters = spec_.letters();
  spec::ModelSpec wider = spec_;
  wider.arch = "i";
  std::vector<int64_t> place;  // by block of `wider`: which block it is in `spec_`
  place.push_back(-1);
  for (size_t i = 0; i < letters.size(); ++i) {
    wider.arch += std::string(1, letters[i]) + (i % 2 ? "ii" : "i");
    place.push_back(static_cast<int64_t>(i));
    place.resize(wider.arch.size(), -1);
  }
  const model::Weights weights = model::weights_of(spec_);
  const model::Source same = test::weights_for_tests(weights);
  const model::Source renamed = [&](const std::string& name, const Tensor& into) {
    if (!name.starts_with("blocks.")) return same(name, into);
    const size_t dot = name.find('.', 7);
    const int64_t block = place.at(std::stoul(name.substr(7, dot - 7)));
    same(text("blocks.", block, name.substr(dot)), into);
  };
  EXPECT_EQ(model::count_parameters(wider).total, model::count_parameters(spec_).total);
  const std::vector<int32_t> tokens = random_tokens(12, V_);
  const GraphForm form = scores(6, GetParam().learned() ? 0 : 6, false);
  EXPECT_EQ(Runner(wider, form, renamed).run_all(tokens), Runner(spec_, form).run_all(tokens));
}

// Every state is used: another one gives other scores. After a restart none is, whatever it holds.
TEST_P(Laws, StatesAreUsedUntilTheTextBeginsAgain) {
  const std::vector<int32_t> first = random_tokens(10, V_, 1), second = random_tokens(10, V_, 2);
  for (const bool cached : forms_with_memory()) {
    Runner runner(spec_, scores(5, 10, cached, 2));
    const std::vector<float> fresh = runner.run(second);
    runner.restart();
    runner.run(first);
    const std::vector<float> later = runner.run(second);
    // Learned places go on in the text whatever the blocks keep of it.
    EXPECT_EQ(fresh == later, runner.model().states.empty() && !GetParam().learned());
    for (const model::State& state : runner.model().states) {
      runner.restart();
      runner.run(first);
      for (float& value : runner.variables().states.at(state.name).floats()) value += 0.5f;
      EXPECT_NE(runner.run(second), later) << state.name << " is not read";
    }
    for (const model::State& state : runner.model().states) {
      for (float& value : runner.variables().states.at(state.name).floats()) value = 1e3f;
    }
    runner.restart();
    EXPECT_EQ(runner.run(second), fresh) << "the last text is still there, cached: " << cached;
  }
}

INSTANTIATE_TEST_SUITE_P(Model, Laws, testing::ValuesIn(cases()), [](const auto& given) {
  std::string name = given.param.backbone + "_" + given.param.arch + "_" + enum_name(given.param.norm) +
                     (given.param.placeless ? "_placeless" : "");
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; });
  return name;
});

TEST(Recurrence, AttentionWithoutWeightIsNone) {
  for (const bool cached : {false, true}) {
    for (const int64_t heads : {1, 2}) {
      spec::ModelSpec attends = small_model("sru++", "(ra)x2"), recurs = small_model("sru++", "(rr)x2");
      attends.recurrence.heads = heads;
      const auto without = [](const spec::ModelSpec& spec) -> model::Source {
        const model::Source all = test::weights_for_tests(model::weights_of(spec));
        return [all](const std::string& name, const Tensor& into) {
          all(name, into);
          if (name.ends_with("alpha")) std::fill(into.floats().begin(), into.floats().end(), 0.f);
        };
      };
      const GraphForm form = changed(scores(5, 7, cached), [&](model::Inference& inference) {
        inference.weights = packed_or_not(cached);
      });
      const std::vector<int32_t> tokens = random_tokens(20, attends.embedding.vocabulary);
      const auto expected = Runner(recurs, form).run_all(tokens);
      expect_equal_to_rounding(Runner(attends, form, without(attends)).run_all(tokens), expected,
                               "alpha = 0");
      EXPECT_NE(Runner(attends, form).run_all(tokens), expected);
    }
  }
}

}  // namespace
}  // namespace heed
