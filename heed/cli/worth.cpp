#include "heed/cli/worth.h"

#include <cstdio>

#include "heed/base/units.h"
#include "heed/cli/genes_flag.h"
#include "heed/cli/run_record.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/training_models.h"
#include "heed/search/worth/law_file.h"
#include "heed/search/worth/law_table.h"
#include "heed/search/worth/worth_run.h"
#include "heed/store/json_file.h"

namespace heed::cli {
namespace {

// Sizes for which the table says what a block is worth.
constexpr double kShownParameters[] = {30e3, 100e3, 300e3, 1e6};

class Worth : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("text", data_, "a text file or a folder of them", false);
    flags.path("table", table_,
               "instead of a text: fit a law to this models.csv, of one or several earlier runs");
    flags.path(
        "law", law_,
        "with --table: test this law (a file, or a folder with one) on the models instead of fitting one");
    flags.option("space", space_, "space of models: a name or a TOML file");
    declare_genes(flags, genes_);
    flags.path("o,out", out_, "folder of the models and the law; rerun the same command to resume");
    flags.seconds("budget", budget_,
                  "time budget of the training; models that would exceed it are not started");
    flags.flag("json", json_, "print JSON");
    settings_.declare(flags);
  }

  void run() override {
    if (data_.empty() == table_.empty())
      throw usage_error("worth: give a text to train on, or a table of trained models with --table FILE.csv");
    if (!law_.empty() && table_.empty())
      throw usage_error("worth: --law is tested on trained models; give them with --table FILE.csv");
    if (!table_.empty()) return law_.empty() ? fit_table() : judge_table();
    if (out_.empty()) throw usage_error("worth: give a folder with -o FOLDER");
    search::WorthRequest request{
        spec::load_space(space_, genes_), settings_.over({}, "worth"), budget_, data_, out_, run_record()};
    const StopSignals signals;
    search::WorthResult result;
    {
      TrainingModels observer;
      result = search::run_worth(request, observer);
    }
    json_ ? void(std::printf("%s\n", to_json(result).dump(2).c_str())) : print(result);
  }

 private:
  std::vector<search::LawModel> read_table(const spec::Space& space) const {
    std::vector<search::LawModel> models = search::read_law_table(table_, space);
    if (models.size() < search::kLeastModels)
      throw usage_error("worth: ", table_, " has ", models.size(), " trained models; a law needs at least ",
                        search::kLeastModels);
    return models;
  }

  void judge_table() const {
    const spec::Space space = spec::load_space(space_, genes_);
    const std::vector<search::LawModel> models = read_table(space);
    const search::LawJudgement judgement = search::judge_predictions(models, search::load_law(law_));
    if (json_) return void(std::printf("%s\n", to_json(judgement).dump(2).c_str()));
    std::printf("%zu models of %s by the law of %s\n", models.size(), table_.c_str(), law_.c_str());
    std::printf(
        "Spearman's coefficient %.3f (95%% of bootstrap samples: %.3f to %.3f), in the best third %.3f "
        "(%.3f to %.3f)\n",
        judgement.all, judgement.all_interval.low, judgement.all_interval.high, judgement.best_third,
        judgement.best_third_interval.low, judgement.best_third_interval.high);
    std::printf("measured are %+.3f bits per byte off on average, and %.3f besides (root mean square)\n",
                judgement.offset, judgement.error);
  }

  void fit_table() const {
    const spec::Space space = spec::load_space(space_, genes_);
    const std::vector<search::LawModel> models = read_table(space);
    const search::Law prior = search::prior_of(space);
    const search::Law law = search::fit_law(models, prior);
    const search::LawQuality quality = search::judge_law(models, prior);
    const std::vector<search::LawTransfer> transfer = search::judge_transfer(models, prior);
    const Json json = {{"law", to_json(law)}, {"quality", to_json(quality)}, {"transfer", to_json(transfer)}};
    if (!out_.empty()) {
      if (std::filesystem::exists(out_))
        throw usage_error("worth: ", out_, " exists; give a new folder with -o FOLDER");
      std::filesystem::create_directories(out_);
      store::write_json_object(std::filesystem::path(out_) / search::kLawFile, json);
    }
    if (json_) return void(std::printf("%s\n", json.dump(2).c_str()));
    std::printf("%zu models of %s\n\n", models.size(), table_.c_str());
    print(law, quality);
    for (const search::LawTransfer& one : transfer)
      std::printf("%s after %s tokens by a law fitted to the other texts: Spearman's coefficient %.3f\n",
                  one.text.c_str(), format_count(one.tokens).c_str(), one.spearman);
    if (!out_.empty()) std::printf("Written: %s/%s\n", out_.c_str(), search::kLawFile);
  }

  void print(const search::WorthResult& r) const {
    std::printf("%zu models of %s trained on %s tokens each\n\n", r.models.size(), space_.c_str(),
                format_count(static_cast<double>(r.models.at(0).moments.back().tokens)).c_str());
    print(r.law, r.quality);
    std::printf(
        "Written: %s/law.json, models.csv\nnext: heed search %s --law %s --max-latency 20ms -o FOUND\n",
        out_.c_str(), space_.c_str(), out_.c_str());
  }

  static void print(const search::Law& law, const search::LawQuality& q) {
    std::printf(
        "bits per byte = %.3f + %.3f R^-%.3f (1 + T)^-%.3f + %.3f (width/%.0f)^-%.3f N^-%.3f + "
        "%.3f N^-%.3f, N = tokens/%.0fK\n",
        law.floor, law.blocks.bits, law.blocks.context, law.blocks.transform, law.width.bits,
        search::kUsualWidth, law.width.power, law.width.tokens, law.tokens.bits, law.tokens.power,
        search::kUsualTokens / 1000);
    for (const auto& [vocabulary, bits] : law.vocabulary) {
      if (bits != 0)
        std::printf("  %+.3f with a vocabulary of %lld\n", bits, static_cast<long long>(vocabulary));
    }
    std::printf("\nwhat a block adds to R, reading the context, and to T, transforming it, at width %.0f\n",
                search::kUsualWidth);
    std::printf("parameters");
    for (const double parameters : kShownParameters) std::printf("%18s", format_count(parameters).c_str());
    std::printf("\n");
    for (const auto& [letter, weights] : law.letters) {
      std::printf("%c         ", letter);
      for (const double parameters : kShownParameters) {
        const search::Sums sums = law.worth(static_cast<int64_t>(search::kUsualWidth),
                                            {letter, static_cast<int64_t>(parameters)}, search::kUsualTokens);
        std::printf("%9.2f%9.2f", sums.context, sums.transform);
      }
      std::printf("\n");
    }
    std::printf(
        "\npredictions for models left out of the fit: %.3f bits per byte off (root mean square); Spearman's "
        "coefficient %.3f, in the best fifth %.3f, for the larger half from the smaller %.3f\n",
        q.error, q.all, q.best_fifth, q.larger_half);
  }

  std::string data_, table_, law_, space_ = "letters", genes_, out_;
  double budget_ = search::WorthRequest().budget;
  SettingsFlags<search::WorthSettings> settings_;
  bool json_ = false;
};

}  // namespace

VerbEntry worth_verb() {
  return entry<Worth>(
      "worth", "Learns from a text what the blocks of a space are worth: trains small models and fits a law.",
      {"heed worth book.txt --space letters -o worth", "heed worth --table worth/models.csv"});
}

}  // namespace heed::cli
