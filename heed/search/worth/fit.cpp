#include "heed/search/worth/fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "heed/search/worth/least_squares.h"

namespace heed::search {
namespace {

// Bits per byte by which models of one law differ: other seeds, and what the law does not know.
constexpr double kNoise = 0.03;
// Errors beyond this many times the noise count less.
constexpr double kBend = 3;
// How far parameters usually are from the prior: factors (as logarithms), powers of sizes and of tokens, and
// bits.
constexpr double kFactor = 0.5, kPower = 0.4, kTokenPower = 0.2, kBits = 1;
// The weights of a letter that the prior does not know.
constexpr double kUnknown = 0.3;

// A law as a vector of numbers that may be anything, and back.
class Coordinates {
 public:
  Coordinates(const std::vector<LawModel>& models, const Law& prior) : prior_(prior) {
    std::set<int64_t> vocabularies;
    for (const LawModel& model : models) {
      for (const SizedBlock& block : model.blocks)
        prior_.letters.try_emplace(block.letter, LetterWorth{kUnknown, kUnknown, 1, 0});
      vocabularies.insert(model.vocabulary);
      texts_.insert(model.text);
    }
    for (const int64_t vocabulary : vocabularies) prior_.vocabulary.try_emplace(vocabulary, 0.0);
    visit(prior_, [&](double value, double usual) { start_.push_back(value), usual_.push_back(usual); });
    for (size_t i = 0; i < texts_.size(); ++i) start_.push_back(std::log(prior_.floor));
  }

  const std::vector<double>& start() const { return start_; }

  // How far each coordinate is from the prior, in units of how far it usually is. Floors may be anywhere.
  void add_distances(const std::vector<double>& at, std::vector<double>& residuals) const {
    for (size_t i = 0; i < usual_.size(); ++i) residuals.push_back((at[i] - start_[i]) / usual_[i]);
  }

  Law law(const std::vector<double>& at) const {
    Law law = prior_;
    auto next = at.begin();
    for (double* value : positive(law)) *value = std::exp(*next++);
    for (double* value : powers(law)) *value = *next++;
    for (double* value : token_powers(law)) *value = *next++;
    for (auto& [vocabulary, bits] : law.vocabulary) {
      if (vocabulary != prior_.vocabulary.begin()->first) bits = *next++;
    }
    law.floor = 0;
    for (const std::string& text : texts_)
      law.floor += floor_of(at, text) / static_cast<double>(texts_.size());
    return law;
  }

  // The floor of a text, which the law itself has as a mean. Above 0: no text has a negative loss.
  double floor_of(const std::vector<double>& at, const std::string& text) const {
    return std::exp(
        at[usual_.size() + static_cast<size_t>(std::distance(texts_.begin(), texts_.find(text)))]);
  }

 private:
  // Numbers that stay above 0. What a letter adds nothing to, it adds nothing to after the fit.
  static std::vector<double*> positive(Law& law) {
    std::vector<double*> all = {&law.blocks.bits, &law.blocks.context, &law.blocks.transform, &law.width.bits,
                                &law.width.power, &law.tokens.bits,    &law.tokens.power};
    for (auto& [letter, worth] : law.letters) {
      for (double* weight : {&worth.context, &worth.transform}) {
        if (*weight > 0) all.push_back(weight);
      }
    }
    return all;
  }

  static std::vector<double*> powers(Law& law) {
    std::vector<double*> all;
    for (auto& [letter, worth] : law.letters) all.insert(all.end(), {&worth.size, &worth.width});
    return all;
  }

  static std::vector<double*> token_powers(Law& law) {
    return {&law.growth.context, &law.growth.transform, &law.width.tokens};
  }

  template <class Visitor>
  void visit(Law& law, const Visitor& coordinate) const {
    for (const double* value : positive(law)) coordinate(std::log(*value), kFactor);
    for (const double* value : powers(law)) coordinate(*value, kPower);
    for (const double* value : token_powers(law)) coordinate(*value, kTokenPower);
    // The first is part of the floor.
    for (const auto& [vocabulary, bits] : law.vocabulary) {
      if (vocabulary != law.vocabulary.begin()->first) coordinate(bits, kBits);
    }
  }

  Law prior_;
  std::set<std::string> texts_;
  std::vector<double> start_, usual_;  // floors have no usual distance
};

double spearman_of(const std::vector<LawModel>& models, const std::vector<double>& predictions,
                   int64_t percent) {
  std::vector<double> measured, score;
  for (size_t i = 0; i < models.size(); ++i) {
    measured.push_back(models[i].bits_per_byte), score.push_back(-predictions[i]);
  }
  return spearman_of_best(measured, score, percent);
}

}  // namespace

int64_t LawModel::parameters() const {
  int64_t sum = 0;
  for (const SizedBlock& block : blocks) sum += block.parameters;
  return sum;
}

double predicted(const Law& law, const LawModel& model) {
  Sums sums;
  for (const SizedBlock& block : model.blocks) sums += law.worth(model.width, block, model.tokens);
  return law.bits_per_byte(model.width, model.vocabulary, sums, model.tokens);
}

namespace {

struct Fitted {
  Law law;
  std::map<std::string, double> floors;  // of the texts; the law has their mean

  // In the text of the model, if the fit knows it.
  double bits_per_byte(const LawModel& model) const {
    const auto floor = floors.find(model.text);
    return predicted(law, model) + (floor == floors.end() ? 0 : floor->second - law.floor);
  }
};

// Every letter reads or transforms what it does in the prior, all of them equally well.
Law neutral(Law prior) {
  prior.floor = 1;
  prior.blocks = {1, 0.25, 0.25};
  prior.width = {0.25, 0.5, 0};
  prior.tokens = {0.5, 0.5};
  prior.growth = {};
  for (auto& [letter, worth] : prior.letters)
    worth = {worth.context > 0 ? kUnknown : 0, worth.transform > 0 ? kUnknown : 0, 1, 0};
  for (auto& [vocabulary, bits] : prior.vocabulary) bits = 0;
  return prior;
}

Fitted fit(const std::vector<LawModel>& models, const Law& prior) {
  const Coordinates coordinates(models, prior);
  const auto residuals = [&](const std::vector<double>& at) {
    const Law law = coordinates.law(at);
    std::vector<double> all;
    for (const LawModel& model : models) {
      const double bits = predicted(law, model) - law.floor + coordinates.floor_of(at, model.text);
      all.push_back(robust((bits - model.bits_per_byte) / kNoise, kBend));
    }
    coordinates.add_distances(at, all);
    return all;
  };
  const std::vector<double> best = least_squares(residuals, coordinates.start());
  Fitted fitted{coordinates.law(best), {}};
  for (const LawModel& model : models) fitted.floors[model.text] = coordinates.floor_of(best, model.text);
  return fitted;
}

}  // namespace

Law fit_law(const std::vector<LawModel>& models, const Law& prior) { return fit(models, prior).law; }

LawQuality judge_law(const std::vector<LawModel>& models, const Law& prior) {
  LawQuality quality;
  double squares = 0;
  for (size_t i = 0; i < models.size(); ++i) {
    std::vector<LawModel> others = models;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    quality.left_out.push_back(fit(others, prior).bits_per_byte(models[i]));
    squares += std::pow(quality.left_out.back() - models[i].bits_per_byte, 2);
  }
  quality.error = std::sqrt(squares / static_cast<double>(models.size()));
  quality.all = spearman_of(models, quality.left_out, 100);
  quality.best_fifth = spearman_of(models, quality.left_out, 20);
  std::vector<LawModel> sorted = models;
  std::ranges::stable_sort(sorted, {}, &LawModel::parameters);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  const Fitted from_smaller = fit({sorted.begin(), middle}, prior);
  const std::vector<LawModel> larger(middle, sorted.end());
  std::vector<double> predictions;
  for (const LawModel& model : larger) predictions.push_back(from_smaller.bits_per_byte(model));
  quality.larger_half = spearman_of(larger, predictions, 100);
  return quality;
}

std::vector<LawTransfer> judge_transfer(const std::vector<LawModel>& models, const Law& prior) {
  std::map<std::string, std::map<double, std::vector<LawModel>>> groups;  // by text, then by tokens
  for (const LawModel& model : models) groups[model.text][model.tokens].push_back(model);
  std::vector<LawTransfer> transfer;
  if (groups.size() < 2) return transfer;
  for (const auto& [text, by_tokens] : groups) {
    std::vector<LawModel> others;
    for (const LawModel& model : models) {
      if (model.text != text) others.push_back(model);
    }
    const Law law = fit_law(others, neutral(prior));
    for (const auto& [tokens, group] : by_tokens) {
      std::vector<double> predictions;
      for (const LawModel& model : group) predictions.push_back(predicted(law, model));
      transfer.push_back({text, tokens, spearman_of(group, predictions, 100)});
    }
  }
  return transfer;
}

LawJudgement judge_predictions(const std::vector<LawModel>& models, const Law& law) {
  std::vector<double> measured, predictions;
  for (const LawModel& model : models) {
    measured.push_back(model.bits_per_byte), predictions.push_back(predicted(law, model));
  }
  LawJudgement judgement;
  const auto count = static_cast<double>(models.size());
  for (size_t i = 0; i < models.size(); ++i) judgement.offset += (measured[i] - predictions[i]) / count;
  double squares = 0;
  for (size_t i = 0; i < models.size(); ++i)
    squares += std::pow(measured[i] - predictions[i] - judgement.offset, 2);
  judgement.error = std::sqrt(squares / count);
  const auto coefficient = [&](std::span<const size_t> drawn, int64_t percent) {
    std::vector<double> truth, score;
    for (const size_t i : drawn) truth.push_back(measured[i]), score.push_back(-predictions[i]);
    return spearman_of_best(truth, score, percent);
  };
  const auto judge = [&](int64_t percent, double& value, Interval& interval) {
    std::vector<size_t> each(models.size());
    std::iota(each.begin(), each.end(), size_t{0});
    value = coefficient(each, percent);
    interval =
        bootstrap(models.size(), [&](std::span<const size_t> drawn) { return coefficient(drawn, percent); });
  };
  judge(100, judgement.all, judgement.all_interval);
  judge(34, judgement.best_third, judgement.best_third_interval);
  return judgement;
}

namespace {
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json to_json(const Interval& interval) { return Json::array({number(interval.low), number(interval.high)}); }
}  // namespace

Json to_json(const LawJudgement& judgement) {
  return {{"offset", judgement.offset},
          {"error", judgement.error},
          {"spearman", number(judgement.all)},
          {"spearman_interval", to_json(judgement.all_interval)},
          {"spearman_best_third", number(judgement.best_third)},
          {"spearman_best_third_interval", to_json(judgement.best_third_interval)}};
}

Json to_json(const std::vector<LawTransfer>& transfer) {
  Json all = Json::array();
  for (const LawTransfer& one : transfer)
    all.push_back({{"text", one.text}, {"tokens", one.tokens}, {"spearman", number(one.spearman)}});
  return all;
}

Json to_json(const LawQuality& quality) {
  return {{"error", number(quality.error)},
          {"spearman", number(quality.all)},
          {"spearman_best_fifth", number(quality.best_fifth)},
          {"spearman_larger_half", number(quality.larger_half)},
          {"left_out", quality.left_out}};
}

}  // namespace heed::search
