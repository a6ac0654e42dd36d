#include "heed/search/supernet/supernet_run.h"

#include <cmath>

#include "heed/base/clock.h"
#include "heed/base/files.h"
#include "heed/search/supernet/block_times.h"
#include "heed/search/supernet/charts.h"
#include "heed/spec/arch.h"
#include "heed/store/checkpoint.h"
#include "heed/store/json_file.h"
#include "heed/train/run_text.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;
using data::Split;

constexpr int64_t kLinesOfTheta = 500;  // about so many per seed

// What a seed has to remember besides weights and states.
struct Progress {
  int64_t step = 0;
  double average = 0;
  int64_t last_change = 0;
  std::string by_layer;
  bool converged = false;
  double seconds = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("step", step, "iterations made");
    field("average", average, "of the loss over the last iterations");
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

SeedResult read_result(const fs::path& file) {
  const Json json = store::read_json_object(file);
  try {
    return {json.at("seed").get<int64_t>(),
            json.at("steps").get<int64_t>(),
            json.at("last_change").get<int64_t>(),
            json.at("converged").get<bool>(),
            json.at("loss").get<double>(),
            json.at("seconds").get<double>(),
            {json.at("letters").get<std::string>(),
             json.at("probabilities").get<std::vector<std::vector<double>>>()}};
  } catch (const Json::exception& error) {
    throw failure(file.string(), ": ", error.what(),
                  "; move the folder of this seed away to search it again");
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
    folder_ = std::make_unique<store::RunFolder>(request.folder,
                                                 Json{{"strategy", "supernet"},
                                                      {"recipe", spec::to_json(recipe_)},
                                                      {"settings", heed::to_json(request.settings)}},
                                                 record);
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
    folder_->metrics().cut_after(-1);  // written anew, from the seeds' own results
    for (int64_t nth = 0; nth < request_.seeds; ++nth) {
      const SeedResult found = run_seed(recipe_.training.seed + nth, nth);
      folder_->metrics().append({{"step", nth}, {"seed", found.seed}, {"by_layer", found.choice.by_layer()}});
      result_.seeds.push_back(found);
    }
    store::write_json_object(request_.folder / "supernet.json", to_json(result_));
    write_file(request_.folder / "probabilities.svg",
               choice_chart(mean_choice(result_.seeds),
                            text("Probabilities by layer, mean of ", result_.seeds.size(),
                                 result_.seeds.size() == 1 ? " seed" : " seeds")));
    return std::move(result_);
  }

 private:
  // Everything that may still be refused: the text, the sizes.
  void prepare(const Json& record) {
    train::check_text(*folder_, record);
    store::write_json_object(request_.folder / "tokenizer.json", tokens_.tokenizer->to_json());
    train_ = std::make_unique<data::TokenStream>(tokens_.stream(Split::kTrain));
    batches_ = train::training_batches(recipe_, *train_);
    result_.settings = resolved(request_.settings, static_cast<int64_t>(recipe_.model.letters().size()),
                                recipe_.training.steps, batches_->segments());
    static_cast<void>(build_supernet(recipe_, result_.settings, Course(result_.settings)));
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

  static store::Tensors tensors(const std::vector<std::string>& names, const graph::Variables& variables) {
    store::Tensors tensors;
    for (const std::string& name : names) tensors[name] = variables.at(name);
    return tensors;
  }

  SeedResult run_seed(int64_t seed, int64_t nth) {
    const fs::path folder = request_.folder / text("seed-", seed);
    if (fs::exists(folder / "result.json")) return read_result(folder / "result.json");
    spec::Recipe recipe = recipe_;
    recipe.training.seed = seed;
    const auto batches = train::training_batches(recipe, *train_);
    graph::Variables variables;
    Supernet supernet(recipe, result_.settings, variables, result_.times);
    fs::create_directories(folder);
    store::LineLog metrics(folder / "metrics.jsonl"), theta(folder / "theta.jsonl");
    Progress progress = resume(folder, supernet, variables, seed);
    metrics.cut_after(progress.step), theta.cut_after(progress.step);
    const auto save = [&] {
      metrics.sync(), theta.sync();
      store::save_checkpoint(folder / "checkpoints", progress.step, tensors(supernet.parameters(), variables),
                             tensors(supernet.states(), variables), heed::to_json(progress));
    };
    const int64_t steps = result_.settings.steps, first = progress.step,
                  every = std::max<int64_t>(1, supernet.course().theta_updates() / kLinesOfTheta);
    const double begin = now_seconds();
    double saved = begin;
    const auto write_theta = [&](const Choice& choice, double temperature) {
      theta.append({{"step", progress.step},
                    {"temperature", temperature},
                    {"by_layer", progress.by_layer},
                    {"probabilities", choice.probabilities}});
    };
    if (progress.step == 0) {
      progress.by_layer = supernet.choice().by_layer();
      write_theta(supernet.choice(), result_.settings.temperature);
    }
    while (progress.step < steps && !progress.converged) {
      const int64_t index = progress.step;
      const Turn turn = supernet.course().at(index);
      const train::StepResult made = step(supernet, *batches, recipe.training, progress);
      metrics.append({{"step", progress.step},
                      {"turn", turn.theta ? "theta" : "weights"},
                      {"loss", made.loss},
                      {"norm", made.gradient_norm},
                      {"rate", made.learning_rate},
                      {"temperature", turn.temperature},
                      {"seconds", progress.seconds}});
      if (turn.theta) {
        const Choice choice = supernet.choice();
        const bool changed = choice.by_layer() != progress.by_layer;
        if (changed) progress.by_layer = choice.by_layer(), progress.last_change = progress.step;
        progress.converged = supernet.course().converged(progress.last_change, progress.step);
        if (changed || progress.converged || turn.number % every == 0) write_theta(choice, turn.temperature);
      }
      const double rate = static_cast<double>(progress.step - first) / std::max(1e-9, now_seconds() - begin);
      const int64_t left = steps - progress.step + (request_.seeds - nth - 1) * steps;
      observer_.step({seed, nth + 1, request_.seeds, progress.step, steps, progress.average, turn.temperature,
                      progress.by_layer,
                      rate * static_cast<double>(recipe.training.batch * recipe.training.length),
                      static_cast<double>(left) / rate});
      const bool last = progress.step == steps || progress.converged, stopped = !last && observer_.stop();
      if (last || stopped || now_seconds() - saved > request_.save_seconds) {
        save();
        saved = now_seconds();
      }
      if (stopped) throw Error("interrupted; the same command goes on", kInterrupted);
    }
    const SeedResult result{seed,
                            progress.step,
                            progress.last_change,
                            progress.converged,
                            progress.average,
                            progress.seconds,
                            supernet.choice()};
    write_result(folder, result);
    return result;
  }

  Progress resume(const fs::path& folder, const Supernet& supernet, const graph::Variables& variables,
                  int64_t seed) {
    const store::LatestCheckpoint latest = store::latest_checkpoint(folder / "checkpoints");
    for (const std::string& note : latest.notes) observer_.note(note);
    if (latest.path.empty() && latest.damaged > 0)
      throw failure((folder / "checkpoints").string(),
                    ": no checkpoint is whole; restore one, or move the folder ", folder.string(),
                    " away to begin this seed anew");
    if (latest.path.empty()) return {};
    const Progress progress =
        from_json<Progress>(store::load_checkpoint(latest.path, tensors(supernet.parameters(), variables),
                                                   tensors(supernet.states(), variables)),
                            latest.path.string());
    observer_.note(text("seed ", seed, ": going on from iteration ", progress.step));
    return progress;
  }

  static train::StepResult step(Supernet& supernet, data::Batches& batches,
                                const spec::TrainingSpec& training, Progress& progress) {
    const int64_t index = progress.step;
    const int64_t seen = (training.restart_memory ? index % batches.segments() : index) * training.length;
    const double begin = now_seconds();
    const train::StepResult made =
        supernet.step(index, seen, [&](int64_t chunk, std::span<int32_t> tokens, std::span<int32_t> targets) {
          batches.fill(index, chunk, tokens, targets);
        });
    progress.step = index + 1;
    progress.seconds += now_seconds() - begin;
    progress.average = index == 0 ? made.loss : 0.95 * progress.average + 0.05 * made.loss;
    return made;
  }

  void write_result(const fs::path& folder, const SeedResult& result) const {
    const Choice& choice = result.choice;
    store::write_json_object(folder / "found.json", spec::to_json(retraining_of(recipe_, choice.found())));
    write_file(folder / "probabilities.svg",
               choice_chart(choice, text("Probabilities by layer, seed ", result.seed)));
    std::vector<ChoiceAt> course;
    for (const Json& line : store::read_lines(folder / "theta.jsonl"))
      course.push_back({line.at("step").get<int64_t>(),
                        {choice.letters, line.at("probabilities").get<std::vector<std::vector<double>>>()}});
    write_file(folder / "course.svg",
               course_chart(course, text("Probabilities over time, seed ", result.seed)));
    store::write_json_object(folder / "result.json", to_json(result));  // last: with it the seed is done
  }

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
