#include "heed/search/worth/worth_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "heed/base/files.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/search/proxies/counts.h"
#include "heed/search/ranking.h"
#include "heed/search/worth/design.h"
#include "heed/search/worth/law_file.h"
#include "heed/search/worth/law_table.h"
#include "heed/search/worth/valuation.h"
#include "heed/spec/space_definition.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

// Updates of small models on one thread, until the first are done. Not measured: the sample must be the same
// when the run is resumed.
constexpr double kFlopsPerSecond = 45e9;
// No model takes more than this share of the budget.
constexpr double kMostShare = 0.08;
// Of the time of the updates: with the evaluations in between.
constexpr double kWithEvaluation = 1.25;
constexpr int64_t kMoments = 4;
constexpr int64_t kHeldOutTokens = 1 << 15;

spec::Recipe sample_recipe(const WorthRequest& request, const spec::Candidate& candidate) {
  spec::Recipe recipe = request.space.recipe_of(candidate);
  recipe.training = for_tokens(recipe.training, request.settings.tokens);
  recipe.training.seed = request.settings.seed;
  recipe.training.evaluate_every = std::max<int64_t>(1, recipe.training.steps / kMoments);
  recipe.training.evaluate_tokens = kHeldOutTokens;
  return recipe;
}

Json config_of(const WorthRequest& r) {
  return {{"space", r.space.name},
          {spec::kSpaceDefinition, r.space.source},
          {"settings", heed::to_json(r.settings)},
          {"budget", r.budget}};
}

class WorthRun {
 public:
  WorthRun(const WorthRequest& request, ShortTrainingObserver& observer)
      : request_(request),
        observer_(observer),
        space_(request.space),
        folder_(request.folder, store::RunKind::kWorth, config_of(request), request.record) {}

  WorthResult run() {
    folder_.begin(
        [&] {
          leave_out_vocabularies(space_, request_.data, request_.folder,
                                 [&](const std::string& sentence) { observer_.note(sentence); });
          draw_sample();
        },
        [&] { return !result_.models.empty() && fs::exists(folder_of(result_.models[0])); });
    train_shortly(
        result_.models, request_.data, request_.folder, request_.record,
        [&](const ShortTraining& next) { return is_affordable(next); }, observer_, [&] { write_table(); });
    fit();
    return std::move(result_);
  }

 private:
  fs::path folder_of(const ShortTraining& model) const { return request_.folder / model.name; }

  void draw_sample() {
    const auto models = static_cast<size_t>(std::max<int64_t>(0, request_.settings.models));
    if (models < kLeastModels)
      throw usage_error("worth: --models is ", request_.settings.models, "; a law needs at least ",
                        kLeastModels);
    GraphCosts costs(space_);
    const auto drawn = [&](int64_t most_total) {
      return designed_sample(space_, costs, request_.settings.models, most_total, request_.settings.seed);
    };
    candidates_ = drawn(static_cast<int64_t>(kMostShare / share_of(1)));
    if (candidates_.size() < models) {
      std::vector<spec::Candidate> any = drawn(INT64_MAX);
      if (any.size() < models)
        throw usage_error("worth: --models is ", models, ", and space ", request_.space.name, " has ",
                          any.size(), " different models; give a space with more values, or ",
                          any.size() < kLeastModels ? "another" : "fewer --models");
      std::vector<int64_t> totals;
      for (const spec::Candidate& candidate : any) totals.push_back(costs.of(candidate).total);
      std::ranges::sort(totals);
      throw usage_error("worth: ", models, " models of ", request_.space.name, " trained on ",
                        request_.settings.tokens, " tokens each take longer than the budget of ",
                        format_seconds(request_.budget), "; give a --budget of at least ",
                        format_seconds(request_.budget * share_of(totals[totals.size() / 2]) / kMostShare),
                        ", fewer --models or fewer --tokens");
    }
    for (const spec::Candidate& candidate : candidates_) {
      char name[16];
      std::snprintf(name, sizeof name, "m%03zu", result_.models.size() + 1);
      ShortTraining& model = result_.models.emplace_back();
      model.name = name;
      model.recipe = sample_recipe(request_, candidate);
      model.work =
          training_flops(costs.of(candidate).total, tokens_of(model.recipe.training)) / kFlopsPerSecond;
    }
  }

  // The share of the budget that a model with this many parameters takes, with all threads busy.
  double share_of(int64_t total) const {
    const int64_t tokens = tokens_of(for_tokens(space_.training, request_.settings.tokens));
    return training_flops(total, tokens) / kFlopsPerSecond / (request_.budget * threads_);
  }

  // Whether the budget allows one more model, by the time that those before it took. Once the law is fitted,
  // no more are begun.
  bool is_affordable(const ShortTraining& next) const {
    if (fs::exists(folder_of(next))) return true;
    if (fs::exists(request_.folder / kLawFile)) return false;
    double seconds = 0, work = 0;
    for (const ShortTraining& model : result_.models) {
      if (model.moments.empty()) continue;
      seconds += model.seconds, work += model.work;
    }
    const double expected = work > 0 ? next.work * seconds / work : next.work;
    return kWithEvaluation * (seconds + expected) <= request_.budget * threads_;
  }

  void fit() {
    BlockSizes sizes(space_);
    std::vector<LawModel> points;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const ShortTraining& model = result_.models[i];
      if (model.moments.empty()) continue;
      points.push_back({model.name, "", candidates_[i].frame.width, candidates_[i].frame.vocabulary,
                        sizes.of(candidates_[i].frame.width, model.recipe.model.blocks()),
                        static_cast<double>(model.moments.back().tokens),
                        model.moments.back().bits_per_byte});
    }
    std::erase_if(result_.models, [](const ShortTraining& model) { return model.moments.empty(); });
    if (points.size() < kLeastModels)
      throw usage_error("worth: ", points.size(), " models were trained in ", format_seconds(request_.budget),
                        ", and a law needs ", kLeastModels, "; give a longer --budget or fewer --tokens");
    folder_.check_in_place();
    write_table();
    const Law prior = prior_of(request_.space);
    result_.law = fit_law(points, prior);
    result_.quality = judge_law(points, prior);
    write_ranking();
    store::write_json_object(request_.folder / kLawFile, to_json(result_));
  }

  // The models that are trained so far.
  void write_table() const {
    write_file(request_.folder / kLawTable, law_table(result_.models, request_.data.filename().string()));
  }

  // How well the law ranks the models, and scores that need no training, for the report.
  void write_ranking() const {
    std::vector<TableRow> rows;
    std::vector<double> scores;
    for (size_t i = 0; i < result_.models.size(); ++i) {
      const ShortTraining& model = result_.models[i];
      rows.push_back({model.name, model.recipe, request_.space.length, {}, {}, {}});
      rows.back().perplexity = std::exp2(model.moments.back().bits_per_byte);
      scores.push_back(-result_.quality.left_out[i]);
    }
    std::vector<Ranking> rankings = {rank(rows, worth_proxy().name, {std::move(scores)})};
    for (const Proxy& proxy : proxies()) {
      if (!proxy.runs && !proxy.by_law) rankings.push_back(rank(rows, proxy.name, count_models(rows, proxy)));
    }
    store::write_json_object(request_.folder / "ranking.json", to_json(rows, rankings));
  }

  const WorthRequest& request_;
  ShortTrainingObserver& observer_;
  const int threads_ = thread_count();  // each model is trained on one of them
  spec::Space space_;                   // without what the text is too short for
  store::RunFolder folder_;
  std::vector<spec::Candidate> candidates_;
  WorthResult result_;
};

}  // namespace

Json to_json(const WorthResult& result) {
  Json models = Json::array();
  for (size_t i = 0; i < result.models.size(); ++i) {
    const ShortTraining& model = result.models[i];
    Json moments = Json::array();
    for (const Moment& moment : model.moments)
      moments.push_back({{"tokens", moment.tokens}, {"bits_per_byte", moment.bits_per_byte}});
    models.push_back({{"name", model.name},
                      {"moments", moments},
                      {"predicted", result.quality.left_out.at(i)},
                      {"spec", heed::to_json(model.recipe.model)}});
  }
  return {{"law", to_json(result.law)}, {"quality", to_json(result.quality)}, {"models", models}};
}

WorthResult run_worth(const WorthRequest& request, ShortTrainingObserver& observer) {
  return WorthRun(request, observer).run();
}

}  // namespace heed::search
