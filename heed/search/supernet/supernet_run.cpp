#include "heed/search/supernet/supernet_run.h"

#include <algorithm>
#include <cmath>

#include "heed/base/clock.h"
#include "heed/base/files.h"
#include "heed/search/supernet/block_times.h"
#include "heed/search/supernet/charts.h"
#include "heed/spec/arch.h"
#include "heed/store/json_file.h"
#include "heed/train/resuming.h"
#include "heed/train/run_text.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;
using data::Split;

constexpr int64_t kLinesOfTheta = 500;  // about so many per seed
constexpr const char* kResultFile = "result.json";

// What a seed has to remember besides weights and states.
struct Progress {
  int64_t step = 0;
  train::LossAverage loss;
  int64_t last_change = 0;
  std::string by_layer;
  bool converged = false;
  double seconds = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("step", step, "iterations made");
    field("average", loss.average, "of the loss over the last iterations");
    field("lowest", loss.lowest, "that the average has been");
    field("last_change", last_change, "iterations made when the string last changed");
    field("by_layer", by_layer, "the string");
    field("converged", converged, "whether the string has stayed for long enough");
    field("seconds", seconds, "spent in iterations");
  }
};

Json to_json(const SeedResult& r) {
  Json slices = Json::array();
  for (const auto& slice : slices_of(r.choice.by_layer())) {
    Json counts = Json::object();
    for (const char letter : r.choice.letters)
      counts[std::string(1, letter)] = slice.contains(letter) ? slice.at(letter) : 0;
    slices.push_back(counts);
  }
  const std::string found = r.choice.found();
  return {{"seed", r.seed},
          {"steps", r.steps},
          {"last_change", r.last_change},
          {"converged", r.converged},
          {"loss", r.loss},
          {"seconds", r.seconds},
          {"letters", r.choice.letters},
          {"by_layer", r.choice.by_layer()},
          {"arch", found.empty() ? "" : spec::format_arch(found)},
          {"slices", slices},
          {"probabilities", r.choice.probabilities}};
}

// What a file says about each layer, if it is of this supernet's shape.
std::vector<std::vector<double>> read_probabilities(const Json& json, const SupernetSettings& s,
                                                    const fs::path& file) {
  std::vector<std::vector<double>> all;
  try {
    all = json.at("probabilities").get<std::vector<std::vector<double>>>();
  } catch (const Json::exception&) {  // nothing is what it then is
  }
  bool fits = static_cast<int64_t>(all.size()) == s.layers;
  for (const auto& layer : all) fits = fits && layer.size() == s.letters.size();
  if (!fits)
    throw failure(file.string(), ": does not hold the probabilities of ", s.letters.size(), " blocks in ",
                  s.layers, " layers; is it damaged? Move the folder ", file.parent_path().string(),
                  " away to search this seed again");
  return all;
}

SeedResult read_result(const fs::path& file, const SupernetSettings& s) {
  const Json json = store::read_json_object(file);
  const Choice choice{s.letters, read_probabilities(json, s, file)};
  try {
    return {json.at("seed").get<int64_t>(),
            json.at("steps").get<int64_t>(),
            json.at("last_change").get<int64_t>(),
            json.at("converged").get<bool>(),
            json.at("loss").get<double>(),
            json.at("seconds").get<double>(),
            choice};
  } catch (const Json::exception&) {
    throw failure(file.string(), ": lacks a number; is it damaged? Move the folder ",
                  file.parent_path().string(), " away to search this seed again");
  }
}

Choice mean_choice(const std::vector<SeedResult>& seeds) {
  Choice mean = seeds.at(0).choice;
  for (size_t layer = 0; layer < mean.probabilities.size(); ++layer) {
    for (size_t i = 0; i < mean.letters.size(); ++i) {
      std::vector<double> values;
      for (const SeedResult& seed : seeds) values.push_back(seed.choice.probabilities[layer][i]);
      mean.probabilities[layer][i] = spread_of(values).mean;
    }
  }
  return mean;
}

class SupernetRun {
 public:
  SupernetRun(const SupernetRequest& request, SupernetObserver& observer)
      : request_(request),
        observer_(observer),
        recipe_(request.recipe),
        tokens_(train::open_run_text(recipe_, request.data, request.folder,
                                     [&](const std::string& sentence) { observer.note(sentence); })) {
    Json record = request.record;
    record["data"] = train::text_record(tokens_, request.data);
    const auto config = [](const spec::Recipe& recipe, const SupernetSettings& settings) {
      return Json{
          {"strategy", "supernet"}, {"recipe", spec::to_json(recipe)}, {"settings", heed::to_json(settings)}};
    };
    folder_ = std::make_unique<store::RunFolder>(
        request.folder, config(recipe_, request.settings), record, [&](const Json& before) {
          if (before.value("strategy", Json()) != "supernet") return before;
          const std::string what = (request.folder / "config.json").string();
          return config(spec::read_recipe(before.value("recipe", Json()), what),
                        from_json<SupernetSettings>(before.value("settings", Json::object()), what));
        });
    try {
      prepare(record["data"]);
    } catch (const Error&) {
      folder_->take_back();
      throw;
    }
  }

  SupernetResult run() {
    const SupernetSettings& s = result_.settings;
    if (s.latency_term != LatencyTerm::kNone) result_.times = times();
    if (s.anneal == Anneal::kEpoch)
      observer_.note(text("annealing by epoch: the temperature falls by ", s.epoch_factor, " after each ",
                          s.cycle, " iterations and ends at ", Course(s).at(s.steps - 1).temperature,
                          "; above 1 mixtures stay nearly even"));
    for (int64_t nth = 0; nth < request_.seeds; ++nth) {
      const fs::path folder = folder_of(recipe_.training.seed + nth);
      if (!fs::exists(folder / kResultFile)) run_seed(recipe_.training.seed + nth, nth);
      gather();
    }
    return std::move(result_);
  }

 private:
  // Everything that may still be refused: the text, the sizes.
  void prepare(const Json& record) {
    train::check_text(*folder_, record);
    store::write_json_object(request_.folder / "tokenizer.json", tokens_.tokenizer->to_json());
    train_ = std::make_unique<data::TokenStream>(tokens_.stream(Split::kTrain));
    batches_ = train::training_batches(recipe_, *train_);
    // Resolved once: a later version may fill gaps otherwise.
    const fs::path settings = request_.folder / "settings.json";
    result_.settings = fs::exists(settings)
                           ? from_json<SupernetSettings>(store::read_json_object(settings), settings.string())
                           : resolved(request_.settings, static_cast<int64_t>(recipe_.model.letters().size()),
                                      recipe_.training.steps, batches_->segments());
    static_cast<void>(build_supernet(recipe_, result_.settings, Course(result_.settings)));
    store::write_json_object(settings, heed::to_json(result_.settings));
  }

  fs::path folder_of(int64_t seed) const { return request_.folder / text("seed-", seed); }

  // Every seed of the folder that is done, asked for now or before.
  void gather() {
    result_.seeds.clear();
    for (const fs::directory_entry& entry : fs::directory_iterator(request_.folder)) {
      const fs::path file = entry.path() / kResultFile;
      if (fs::exists(file)) result_.seeds.push_back(read_result(file, result_.settings));
    }
    std::ranges::sort(result_.seeds, {}, &SeedResult::seed);
    store::write_json_object(request_.folder / "supernet.json", to_json(result_));
    write_file(request_.folder / "probabilities.svg",
               choice_chart(mean_choice(result_.seeds),
                            text("Probabilities by layer, mean of ", result_.seeds.size(),
                                 result_.seeds.size() == 1 ? " seed" : " seeds")));
  }

  // Measured once: the profile may change while the search is interrupted.
  BlockTimes times() const {
    const fs::path file = request_.folder / "block_times.json";
    if (!fs::exists(file)) {
      const BlockTimes measured = block_times(
          recipe_, result_.settings.letters, request_.profile, [&](const ProfileProgress& progress) {
            observer_.profiling(progress);
            if (observer_.stop()) throw Error("interrupted; the same command goes on", kInterrupted);
          });
      store::write_json_object(file, heed::to_json(measured));
    }
    return from_json<BlockTimes>(store::read_json_object(file), file.string());
  }

  void run_seed(int64_t seed, int64_t nth) {
    SeedRun run(seed, *this);
    const int64_t first = run.progress.step;
    const double begin = now_seconds();
    double saved = begin;
    while (!run.done()) {
      const Turn turn = run.step();
      const double rate =
          static_cast<double>(run.progress.step - first) / std::max(1e-9, now_seconds() - begin);
      const int64_t steps = result_.settings.steps,
                    left = steps - run.progress.step + (request_.seeds - nth - 1) * steps;
      observer_.step({seed, nth + 1, request_.seeds, run.progress.step, steps, run.done(),
                      run.progress.loss.average, turn.temperature, run.progress.by_layer,
                      rate * static_cast<double>(recipe_.training.batch * recipe_.training.length),
                      static_cast<double>(left) / rate});
      const bool stopped = !run.done() && observer_.stop();
      if (run.done() || stopped || now_seconds() - saved > request_.save_seconds) {
        run.save();
        saved = now_seconds();
      }
      if (stopped) throw Error("interrupted; the same command goes on", kInterrupted);
    }
    run.write_result();
  }

  // One seed at work.
  struct SeedRun {
    SeedRun(int64_t number, const SupernetRun& run)
        : seed(number),
          asked(run.recipe_),
          recipe(with_seed(asked, number)),
          settings(run.result_.settings),
          folder(run.folder_of(number)),
          batches(train::training_batches(recipe, *run.train_)),
          supernet(recipe, settings, variables, run.result_.times),
          metrics(made(folder) / "metrics.jsonl"),
          theta(folder / "theta.jsonl") {
      const auto resumed =
          train::load_latest(folder / "checkpoints", parameters(), states(),
                             [&](const std::string& sentence) { run.observer_.note(sentence); });
      if (resumed) {
        progress = from_json<Progress>(resumed->progress, resumed->path.string());
        run.observer_.note(text("seed ", seed, ": going on from iteration ", progress.step));
      }
      // What was told before the first step is told again if no step was saved.
      metrics.cut_after(resumed ? progress.step : -1), theta.cut_after(resumed ? progress.step : -1);
      if (resumed) return;
      progress.by_layer = supernet.choice().by_layer();
      write_theta(supernet.choice(), settings.temperature);
    }

    bool done() const { return progress.step == settings.steps || progress.converged; }

    Turn step() {
      const int64_t index = progress.step;
      const Turn turn = supernet.course().at(index);
      const train::StepResult made_step = update(index, turn);
      metrics.append({{"step", progress.step},
                      {"turn", turn.theta ? "theta" : "weights"},
                      {"loss", made_step.loss},
                      {"norm", made_step.gradient_norm},
                      {"rate", made_step.learning_rate},
                      {"temperature", turn.temperature},
                      {"seconds", progress.seconds}});
      if (!turn.theta) return turn;
      const Choice choice = supernet.choice();
      const bool changed = choice.by_layer() != progress.by_layer;
      if (changed) progress.by_layer = choice.by_layer(), progress.last_change = progress.step;
      progress.converged = supernet.course().converged(progress.last_change, progress.step);
      const int64_t all = supernet.course().theta_updates(),
                    every = std::max<int64_t>(1, all / kLinesOfTheta);
      if (changed || progress.converged || turn.number % every == 0 || turn.number == all)
        write_theta(choice, turn.temperature);
      return turn;
    }

    void save() {
      metrics.sync(), theta.sync();
      store::save_checkpoint(folder / "checkpoints", progress.step, parameters(), states(),
                             heed::to_json(progress));
    }

    void write_result() const {
      const SeedResult result{seed,
                              progress.step,
                              progress.last_change,
                              progress.converged,
                              progress.loss.average,
                              progress.seconds,
                              supernet.choice()};
      store::write_json_object(folder / "found.json",
                               spec::to_json(retraining_of(asked, result.choice.found())));
      write_file(folder / "probabilities.svg",
                 choice_chart(result.choice, text("Probabilities by layer, seed ", seed)));
      std::vector<ChoiceAt> course;
      for (const Json& line : store::read_lines(folder / "theta.jsonl"))
        course.push_back({line.value("step", int64_t{0}),
                          {settings.letters, read_probabilities(line, settings, folder / "theta.jsonl")}});
      write_file(folder / "course.svg", course_chart(course, text("Probabilities over time, seed ", seed)));
      store::write_json_object(folder / kResultFile, to_json(result));  // last: with it the seed is done
    }

    int64_t seed;
    const spec::Recipe& asked;
    spec::Recipe recipe;
    SupernetSettings settings;
    fs::path folder;
    std::unique_ptr<data::Batches> batches;
    graph::Variables variables;
    Supernet supernet;
    store::LineLog metrics, theta;
    Progress progress;

   private:
    static spec::Recipe with_seed(spec::Recipe recipe, int64_t seed) {
      recipe.training.seed = seed;
      return recipe;
    }
    static const fs::path& made(const fs::path& folder) {
      fs::create_directories(folder);
      return folder;
    }
    store::Tensors parameters() const { return train::tensors_of(variables, supernet.parameters()); }
    store::Tensors states() const { return train::tensors_of(variables, supernet.states()); }

    void write_theta(const Choice& choice, double temperature) {
      theta.append({{"step", progress.step},
                    {"temperature", temperature},
                    {"by_layer", progress.by_layer},
                    {"probabilities", choice.probabilities}});
    }

    train::StepResult update(int64_t index, const Turn& turn) {
      const std::string rates =
          "try a smaller --weight-rate or --theta-rate, or a higher --final-temperature";
      const double begin = now_seconds();
      train::StepResult made_step;
      try {
        made_step = supernet.step(index, train::seen_before(recipe.training, *batches, index),
                                  [&](int64_t chunk, std::span<int32_t> tokens, std::span<int32_t> targets) {
                                    batches->fill(index, chunk, tokens, targets);
                                  });
      } catch (const Error& error) {
        throw Error(text("supernet: iteration ", index + 1, ", update ", turn.number, " of ",
                         turn.theta ? "logits" : "weights", ": ", error.what(), "; here: ", rates),
                    error.code());
      }
      progress.step = index + 1;
      progress.seconds += now_seconds() - begin;
      progress.loss.add(index, made_step.loss, "Here: " + rates);
      return made_step;
    }
  };

  const SupernetRequest& request_;
  SupernetObserver& observer_;
  spec::Recipe recipe_;
  train::CorpusTokens tokens_;
  std::unique_ptr<store::RunFolder> folder_;
  std::unique_ptr<data::TokenStream> train_;
  std::unique_ptr<data::Batches> batches_;
  SupernetResult result_;
};

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

std::array<Spread, 3> slice_spread(const SupernetResult& result, char letter) {
  std::array<Spread, 3> spreads;
  for (size_t slice = 0; slice < 3; ++slice) {
    std::vector<double> counts;
    for (const SeedResult& seed : result.seeds) {
      const Slices slices = slices_of(seed.choice.by_layer());
      counts.push_back(slices[slice].contains(letter) ? static_cast<double>(slices[slice].at(letter)) : 0);
    }
    spreads[slice] = spread_of(counts);
  }
  return spreads;
}

Json to_json(const SupernetResult& result) {
  Json json = {
      {"settings", heed::to_json(result.settings)}, {"seeds", Json::array()}, {"slices", Json::object()}};
  for (const SeedResult& seed : result.seeds) json["seeds"].push_back(to_json(seed));
  for (const char letter : result.settings.letters) {
    Json thirds = Json::array();
    for (const Spread& s : slice_spread(result, letter))
      thirds.push_back({{"mean", s.mean}, {"deviation", s.deviation}});
    json["slices"][std::string(1, letter)] = thirds;
  }
  json["probabilities"] = mean_choice(result.seeds).probabilities;
  if (!result.times.blocks.empty()) json["block_seconds"] = heed::to_json(result.times);
  return json;
}

SupernetResult run_supernet(const SupernetRequest& request, SupernetObserver& observer) {
  if (request.seeds < 1) throw usage_error("supernet: ", request.seeds, " seeds; give one at least");
  return SupernetRun(request, observer).run();
}

}  // namespace heed::search
