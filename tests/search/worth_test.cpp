// What blocks are worth: which models are trained to find out, and the law fitted to their losses.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/search/finalists.h"
#include "heed/search/worth/design.h"
#include "heed/search/worth/fit.h"
#include "heed/search/worth/law_file.h"
#include "heed/search/worth/least_squares.h"
#include "heed/search/worth/one_more_block.h"
#include "heed/search/worth/short_training.h"
#include "heed/search/worth/train_time.h"
#include "heed/search/worth/valuation.h"
#include "tests/support/messages.h"

namespace heed::search {
namespace {

TEST(LeastSquares, FindsTheParametersOfACurve) {
  // y = 1.5 + 4 x^-0.7
  std::vector<double> xs, ys;
  for (int i = 1; i <= 40; ++i) xs.push_back(i), ys.push_back(1.5 + 4 * std::pow(i, -0.7));
  const auto residuals = [&](double bend) {
    return [&, bend](const std::vector<double>& p) {
      std::vector<double> out;
      for (size_t i = 0; i < xs.size(); ++i)
        out.push_back(robust(p[0] + std::exp(p[1]) * std::pow(xs[i], -p[2]) - ys[i], bend));
      return out;
    };
  };
  std::vector<double> found = least_squares(residuals(INFINITY), {0, 0, 0.2});
  EXPECT_NEAR(found[0], 1.5, 1e-6);
  EXPECT_NEAR(std::exp(found[1]), 4, 1e-6);
  EXPECT_NEAR(found[2], 0.7, 1e-6);
  // One wild value moves the robust fit little, and the plain one much.
  ys[20] += 30;
  EXPECT_GT(std::abs(least_squares(residuals(INFINITY), {0, 0, 0.2})[0] - 1.5), 0.3);
  EXPECT_NEAR(least_squares(residuals(0.01), {0, 0, 0.2})[0], 1.5, 0.05);
}

TEST(LeastSquares, LeavesAParameterThatChangesNothing) {
  const auto found = least_squares(
      [](const std::vector<double>& p) {
        return std::vector<double>{p[0] - 3, 2 * (p[0] - 3)};
      },
      {0, 7});
  EXPECT_NEAR(found[0], 3, 1e-9);
  EXPECT_NEAR(found[1], 7, 1e-6);
}

TEST(DesignedSample, CoversTheSpaceFromItsBeginning) {
  const spec::Space space = spec::load_space("letters");
  GraphCosts costs(space);
  const int64_t most = 6'000'000;
  const std::vector<spec::Candidate> sample = designed_sample(space, costs, 40, most, 1);
  ASSERT_EQ(sample.size(), 40u);
  EXPECT_EQ(std::set<spec::Candidate>(sample.begin(), sample.end()).size(), 40u);
  std::set<int64_t> widths, kinds, vocabularies, depths;
  double least = INFINITY, largest = 0;
  for (size_t i = 0; i < 16; ++i) {
    const spec::Candidate& model = sample[i];
    widths.insert(model.frame.width), vocabularies.insert(model.frame.vocabulary);
    depths.insert(static_cast<int64_t>(model.layers.size()));
    for (const spec::Layer& layer : model.layers) kinds.insert(layer.kind);
    const Cost cost = costs.of(model);
    EXPECT_LE(cost.total, most);
    least = std::min(least, static_cast<double>(cost.decoder));
    largest = std::max(largest, static_cast<double>(cost.decoder));
  }
  EXPECT_GE(widths.size() + 1, space.width.size());
  EXPECT_EQ(kinds.size(), space.layer.size());
  EXPECT_EQ(vocabularies.size(), space.vocabulary.size());
  EXPECT_GE(depths.size(), 4u);
  EXPECT_GT(largest / least, 30);
  // The same seed draws the same, and a longer list begins with the shorter.
  EXPECT_EQ(designed_sample(space, costs, 40, most, 1), sample);
  const auto few = designed_sample(space, costs, 12, most, 1);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), sample.begin()));
  EXPECT_NE(designed_sample(space, costs, 12, most, 2), few);
}

TEST(LeaveOutVocabularies, ThatTheTextDoesNotHave) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 500; ++i) text += "the cat sat on the mat. a dog ate the fog.\n";
  write_file(folder / "text.txt", text);
  spec::Space space = spec::load_space("letters");
  std::vector<std::string> notes;
  leave_out_vocabularies(space, folder / "text.txt", folder / "tokens",
                         [&](const std::string& note) { notes.push_back(note); });
  EXPECT_EQ(space.vocabulary, (std::vector<int64_t>{256}));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("without the models of vocabulary 4096: "), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("nothing occurs twice beyond"), std::string::npos) << notes[0];
}

TEST(DesignedSample, EndsWhereThereAreNoMoreModels) {
  spec::Space space = spec::load_space("letters");
  space.layer = {"r"}, space.width = {128}, space.layers = {2}, space.vocabulary = {256};
  GraphCosts costs(space);
  EXPECT_EQ(designed_sample(space, costs, 50, 1'000'000, 1).size(), 10u);  // pairs of four projections
  EXPECT_TRUE(designed_sample(space, costs, 50, 1000, 1).empty());
}

// A law unlike the one that comes with heed.
Law other_law() {
  Law law = load_law("letters");
  law.floor += 0.3;
  law.blocks.bits *= 1.3, law.blocks.transform *= 1.4;
  for (auto& [letter, worth] : law.letters) worth.context *= 1.5;
  law.vocabulary = {{256, 0}, {4096, -0.4}};
  return law;
}

// Trained on 500,000 tokens.
LawModel law_model(const std::string& name, const spec::Space& space, const spec::Candidate& candidate,
                   BlockSizes& sizes) {
  const spec::Frame& frame = candidate.frame;
  return {.name = name,
          .text = "",
          .width = frame.width,
          .vocabulary = frame.vocabulary,
          .blocks = sizes.of(frame.width, space.model_of(candidate).blocks()),
          .tokens = 5e5};
}

// Models of `letters` with the losses of a law, and a little noise.
std::vector<LawModel> made_up_models(const Law& law, int64_t count, double noise) {
  const spec::Space space = [] {
    spec::Space letters = spec::load_space("letters");
    letters.vocabulary = {256, 4096};
    return letters;
  }();
  GraphCosts costs(space);
  BlockSizes sizes(space);
  Rng rng(3);
  std::vector<LawModel> models;
  for (const spec::Candidate& candidate : designed_sample(space, costs, count, 4'000'000, 1)) {
    LawModel model = law_model(text("m", models.size()), space, candidate, sizes);
    model.bits_per_byte = predicted(law, model) + noise * rng.normal();
    models.push_back(model);
  }
  return models;
}

TEST(Law, IsFoundAgainFromTheLossesOfItsModels) {
  const Law law = other_law();
  const std::vector<LawModel> models = made_up_models(law, 40, 0.01);
  const Law found = fit_law(models, load_law("letters"));
  double squares = 0;
  for (const LawModel& model : made_up_models(law, 80, 0))
    squares += std::pow(predicted(found, model) - model.bits_per_byte, 2);
  EXPECT_LT(std::sqrt(squares / 80), 0.02);
  EXPECT_NEAR(found.vocabulary.at(4096), -0.4, 0.03);
}

// The gain is the difference of two predictions: of the model with the block, and without it.
TEST(OneMoreBlock, GainsWhatTheLawPredictsForTheLongerModel) {
  const spec::Space space = spec::load_space("letters");
  const Law law = load_law("letters");
  const spec::ModelSpec model = space.model_of(space.candidate_of("256/0/1/256 r/64 sf4:512"));
  const OneMoreBlocks rates = one_more_of_each(space, law, 5e5, model);
  Valuation valuation(space, law, 5e5);
  const double rounding = 2e-3;  // a valuation has whole units
  EXPECT_NEAR(rates.predicted, -valuation.score(model), rounding);
  std::set<char> letters;
  for (const OneMoreBlock& more : rates.blocks) {
    spec::ModelSpec longer = model;
    std::vector<spec::Block> blocks = model.blocks();
    blocks.push_back(more.block);
    longer.set_blocks(blocks);
    EXPECT_NEAR(more.bits, rates.predicted + valuation.score(longer), rounding) << describe(more.block);
    EXPECT_GT(more.bits, 0) << describe(more.block);
    EXPECT_GT(more.parameters, 0) << describe(more.block);
    letters.insert(more.block.letter);
  }
  EXPECT_EQ(letters, (std::set<char>{'a', 'f', 'r', 's'}));
  EXPECT_EQ(rates.blocks.size(),
            2 * space.sizes["projection"].size() + space.sizes["inner"].size() + space.sizes["heads"].size());
  // What the law does not know has no rate.
  Law without = law;
  without.letters.erase('a');
  for (const OneMoreBlock& more : one_more_of_each(space, without, 5e5, model).blocks)
    EXPECT_NE(more.block.letter, 'a');
}

TEST(Law, QualityIsThatOfModelsLeftOut) {
  const std::vector<LawModel> models = made_up_models(other_law(), 20, 0.01);
  const LawQuality quality = judge_law(models, load_law("letters"));
  EXPECT_LT(quality.error, 0.04);
  EXPECT_GT(quality.all, 0.97);
  EXPECT_GT(quality.larger_half, 0.8);
  ASSERT_EQ(quality.left_out.size(), models.size());
  // Losses that follow no law are not predicted.
  std::vector<LawModel> noise = models;
  Rng rng(4);
  for (LawModel& model : noise) model.bits_per_byte = 2 + rng.uniform();
  const LawQuality of_noise = judge_law(noise, load_law("letters"));
  EXPECT_LT(of_noise.all, 0.6);
  EXPECT_GT(of_noise.error, 0.2);
}

// Each text has a floor of its own, also in predictions for models left out.
TEST(Law, TextsDifferInTheirFloor) {
  std::vector<LawModel> models = made_up_models(other_law(), 60, 0.01);
  for (size_t i = 0; i < models.size(); ++i) {
    models[i].text = i % 2 ? "easy" : "hard";
    if (i % 2 == 0) models[i].bits_per_byte += 0.8;
  }
  const LawQuality quality = judge_law(models, load_law("letters"));
  EXPECT_LT(quality.error, 0.04);
  EXPECT_GT(quality.all, 0.97);
  // Nothing that the prior knows of the texts is used.
  Law prior = load_law("letters");
  const std::vector<LawTransfer> transfer = judge_transfer(models, prior);
  EXPECT_EQ(transfer.size(), 2u);
  for (const LawTransfer& one : transfer) EXPECT_GT(one.spearman, 0.9) << one.text;
  prior.letters['f'].size = -5, prior.width.power = 9, prior.floor = 7;
  const std::vector<LawTransfer> other = judge_transfer(models, prior);
  for (size_t i = 0; i < transfer.size(); ++i) EXPECT_EQ(other[i].spearman, transfer[i].spearman);
}

// A law knows its own models, whatever the floor of their text; of others it knows as much as it has in
// common.
TEST(Law, IsJudgedByModelsItWasNotFittedTo) {
  std::vector<LawModel> models = made_up_models(other_law(), 30, 0);
  for (LawModel& model : models) model.bits_per_byte += 0.5;
  const LawJudgement own = judge_predictions(models, other_law());
  EXPECT_NEAR(own.offset, 0.5, 1e-9);
  EXPECT_NEAR(own.error, 0, 1e-9);
  EXPECT_EQ(own.all, 1);
  EXPECT_EQ(own.best_third, 1);
  EXPECT_NEAR(own.all_interval.low, 1, 1e-9);
  const LawJudgement other = judge_predictions(models, load_law("letters"));
  EXPECT_LT(other.all, 1);
  EXPECT_GT(other.error, 0.02);
  EXPECT_LT(other.all_interval.low, other.all);
  EXPECT_GT(other.all_interval.high, other.all);
}

TEST(Law, OneWildModelChangesLittle) {
  std::vector<LawModel> models = made_up_models(other_law(), 30, 0);
  models[7].bits_per_byte += 2;
  const Law found = fit_law(models, load_law("letters"));
  models.erase(models.begin() + 7);
  for (const LawModel& model : models)
    EXPECT_NEAR(predicted(found, model), model.bits_per_byte, 0.05) << model.name;
}

TEST(Law, SaysWhatIsWrongWithAFile) {
  const TemporaryFolder folder;
  const Law law = other_law();
  write_file(folder / "law.json", Json{{"law", to_json(law)}}.dump());
  EXPECT_EQ(to_json(load_law(folder.path().string())), to_json(law));  // a folder of `heed worth`
  EXPECT_EQ(to_json(load_law((folder / "law.json").string())), to_json(law));
  EXPECT_SAYS(load_law("lettres"), "lettres: no law of worth found at ");
  write_file(folder / "law.json", R"({"models": []})");
  EXPECT_SAYS(load_law(folder.path().string()), "it is not a law of worth", ErrorKind::kDamaged);
  Json without = to_json(law);
  without.erase("width");
  EXPECT_SAYS(read_law(without, "x.json"), "x.json: it is not a law of worth", ErrorKind::kDamaged);
  Json strange = to_json(law);
  strange["letters"]["?"] = {{"context", 1}};
  EXPECT_SAYS(read_law(strange, "x.json"), "'?' is not a letter", ErrorKind::kDamaged);
}

TEST(Valuation, SumsOfLayersAreThoseOfTheModel) {
  const spec::Space space = spec::load_space("letters");
  GraphCosts costs(space);
  std::optional<Valuation> valuation(std::in_place, space, other_law(), 5e5);
  ValuedCosts valued(costs, valuation);
  for (const spec::Candidate& candidate : designed_sample(space, costs, 12, 20'000'000, 5)) {
    const Cost cost = valued.of(candidate);
    EXPECT_GT(cost.worth[0], 0);
    EXPECT_EQ(valuation->score(candidate.frame, cost.worth), valuation->score(space.model_of(candidate)));
    // Whole units are fine enough.
    BlockSizes sizes(space);
    const LawModel model = law_model("", space, candidate, sizes);
    EXPECT_NEAR(-valuation->score(candidate.frame, cost.worth), predicted(other_law(), model), 1e-3);
  }
}

// A made-up law with a known best: with c = 6 / (0.65 peak) and parameters P = seconds / (c N), the loss
// P^-0.5 + 100 N^-0.5 is least where both terms are equal.
TEST(TrainTime, IsSpentWhereItTeachesMost) {
  const TrainTime hour{3600, 1e9, 1000, int64_t{1} << 60};
  const double operations = 3600 * 0.65e9 / 6;
  const auto score = [](const TimedTraining& t) {
    return -std::pow(static_cast<double>(t.most_parameters), -0.5) -
           100 * std::pow(static_cast<double>(t.tokens), -0.5);
  };
  const TimedTraining best = train_in_time(hour, score);
  const double wanted = 100 * std::sqrt(operations);  // N = 10^4 P, N P = operations
  EXPECT_LT(std::abs(std::log(static_cast<double>(best.tokens) / wanted)), std::log(2) / 4 + 0.01);
  EXPECT_NEAR(static_cast<double>(best.most_parameters) * static_cast<double>(best.tokens) / operations, 1,
              1e-3);
  // The text ends before.
  TrainTime short_text = hour;
  short_text.most_tokens = 50'000;
  EXPECT_EQ(train_in_time(short_text, score).tokens, 50'000);
  // Models of a hundred parameters and more.
  const auto nothing = [](const TimedTraining& t) { return t.most_parameters < 100 ? -INFINITY : -1.0; };
  EXPECT_EQ(train_in_time({1e-6, 1e9, 1000, 100'000}, nothing).tokens, 0);
}

TEST(Finalists, AreHalvedWithinTheirTime) {
  // The updates after which rounds stop, and the time that they take.
  struct Course {
    std::vector<int64_t> stops;
    double seconds = 0;
  };
  const auto course = [](size_t candidates, int64_t steps, const TrainingPace& pace, double budget) {
    const Halving plan = plan_halving(candidates, steps, pace, budget);
    Course all;
    size_t left = plan.models;
    int64_t reached = 0;
    for (int64_t rounds = plan.rounds(); rounds > 0 && reached < steps; --rounds, left /= 2) {
      const int64_t stop = next_stop(left, rounds, reached, steps, pace, budget - all.seconds);
      const size_t turns = (left + pace.at_once - 1) / pace.at_once;
      all.seconds +=
          static_cast<double>(turns) * (pace.start + pace.update * static_cast<double>(stop - reached));
      all.stops.push_back(reached = stop);
    }
    return all;
  };
  const TrainingPace second{1, 0};
  EXPECT_EQ(course(8, 1000, second, 2400).stops, (std::vector<int64_t>{100, 300, 700}));
  // Time that is left over goes to the later rounds, and no model is trained longer than it should be.
  EXPECT_EQ(course(8, 1000, second, 12000).stops, (std::vector<int64_t>{500, 1000}));
  EXPECT_EQ(course(8, 1000, second, 1e9).stops, (std::vector<int64_t>{1000}));
  // With little time rather fewer models than too few updates.
  EXPECT_EQ(plan_halving(8, 1000, second, 2400).models, 8u);
  EXPECT_EQ(plan_halving(8, 1000, second, 1200).models, 7u);
  EXPECT_EQ(plan_halving(8, 1000, second, 600).models, 3u);
  EXPECT_EQ(plan_halving(8, 1000, second, 10).models, 2u);
  EXPECT_EQ(plan_halving(8, 1000, {1, 40}, 2400).models, 7u);
  // Two at once: three take as long as four.
  EXPECT_EQ(course(8, 1000, {1, 0, 2}, 1200).stops, course(8, 1000, second, 2400).stops);
  EXPECT_EQ(course(3, 1000, {1, 0, 2}, 600).stops, (std::vector<int64_t>{300}));
  for (const double start : {0., 3., 10.}) {
    for (const double budget : {50., 300., 777., 3000.}) {
      for (const size_t candidates : {2, 3, 5, 8}) {
        for (const size_t at_once : {1, 2})
          EXPECT_LE(course(candidates, 300, {1, start, at_once}, budget).seconds, budget)
              << budget << " " << start;
      }
    }
  }
  EXPECT_EQ(plan_halving(1, 300, second, 100).models, 0u);
}

}  // namespace
}  // namespace heed::search
