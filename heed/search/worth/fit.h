// Fits the law of worth to trained models, and says how well it predicts models it was not fitted to.
#pragma once

#include <string>
#include <vector>

#include "heed/search/statistics.h"
#include "heed/search/worth/law.h"

namespace heed::search {

// Fewer models do not tell the terms of a law apart.
inline constexpr size_t kLeastModels = 12;

// A trained model.
struct LawModel {
  std::string name;
  std::string text;  // each text has its own floor
  int64_t width = 0, vocabulary = 0;
  std::vector<SizedBlock> blocks;
  double tokens = 0;         // that it was trained on
  double bits_per_byte = 0;  // at the end

  int64_t parameters() const;
};

double predicted(const Law& law, const LawModel& model);

// The law near `prior` that fits best. A few models change only what they can tell; what they leave open,
// such as the effect of more tokens if all were trained on equally many, stays as in the prior. The floor is
// the mean of those of the texts.
Law fit_law(const std::vector<LawModel>& models, const Law& prior);

// Predictions for models that the fit left out, compared with what they reached.
struct LawQuality {
  double error = 0;              // root mean square, in bits per byte
  double all = 0;                // Spearman's coefficient
  double best_fifth = 0;         // the same inside the best fifth
  double larger_half = 0;        // of the larger half, fitted on the smaller one
  std::vector<double> left_out;  // the prediction for each model by a fit without it
};
LawQuality judge_law(const std::vector<LawModel>& models, const Law& prior);

// Each text predicted by a law fitted to the others: Spearman's coefficient of its models that were trained
// on equally many tokens. Empty for one text. Of `prior` only what letters read and transform is used, not
// its numbers: they may come from that very text.
struct LawTransfer {
  std::string text;
  double tokens = 0, spearman = 0;
};
std::vector<LawTransfer> judge_transfer(const std::vector<LawModel>& models, const Law& prior);

// How well a law predicts models, none of which it was fitted to.
struct LawJudgement {
  double offset = 0;               // mean of measured minus predicted: a text has its own floor
  double error = 0;                // root mean square of what remains
  double all = 0, best_third = 0;  // Spearman's coefficient
  Interval all_interval, best_third_interval;
};
LawJudgement judge_predictions(const std::vector<LawModel>& models, const Law& law);

Json to_json(const LawQuality& quality);
Json to_json(const LawJudgement& judgement);
Json to_json(const std::vector<LawTransfer>& transfer);

}  // namespace heed::search
