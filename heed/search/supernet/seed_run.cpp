#include "heed/search/supernet/seed_run.h"

#include <algorithm>

#include "heed/base/clock.h"
#include "heed/base/files.h"
#include "heed/search/supernet/charts.h"
#include "heed/spec/arch.h"
#include "heed/store/json_file.h"
#include "heed/train/tasks.h"
#include "heed/train/text_run.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLinesOfTheta = 500;  // approximately
constexpr const char* kResultFile = "result.json";

// The probabilities of each layer in a file, if it has this supernet's shape.
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
    throw damaged_error(file.string(), ": does not hold the probabilities of ", s.letters.size(),
                        " blocks in ", s.layers, " layers; is it damaged? Move the folder ",
                        file.parent_path().string(), " away to search this seed again");
  return all;
}

spec::Recipe with_seed(spec::Recipe recipe, int64_t seed) {
  recipe.training.seed = seed;
  return recipe;
}

const fs::path& made(const fs::path& folder) {
  fs::create_directories(folder);
  return folder;
}

}  // namespace

Json to_json(const SeedResult& r) {
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
          {"slices", slices_json(r.choice.by_layer(), r.choice.letters)},
          {"probabilities", r.choice.probabilities}};
}

bool SeedResult::is_in(const fs::path& folder) { return fs::exists(folder / kResultFile); }

SeedResult SeedResult::read(const fs::path& folder, const SupernetSettings& s) {
  const fs::path file = folder / kResultFile;
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
    throw damaged_error(file.string(), ": lacks a number; is it damaged? Move the folder ",
                        file.parent_path().string(), " away to search this seed again");
  }
}

SeedRun::SeedRun(const spec::Recipe& recipe, int64_t seed, const SupernetSettings& settings,
                 const BlockTimes& times, const train::CorpusTokens& text, const fs::path& folder,
                 const std::function<void(const std::string&)>& note)
    : asked_(recipe),
      recipe_(with_seed(recipe, seed)),
      settings_(settings),
      folder_(folder),
      batches_(train::task_of(recipe_.model, recipe_.training).training_batches(recipe_, text)),
      supernet_(recipe_, settings, variables_, times),
      weights_batch_(batches_->find(supernet_.batch(false))),
      theta_batch_(batches_->find(supernet_.batch(true))),
      metrics_(made(folder) / "metrics.jsonl"),
      theta_(folder / "theta.jsonl") {
  const auto resumed = train::load_latest(folder / "checkpoints", parameters(), states(), note);
  if (resumed) {
    progress_ = from_json<SeedProgress>(resumed->progress, resumed->path.string());
    note(heed::text("seed ", seed, ": resuming from iteration ", progress_.step));
  }
  // Notes before the first step are repeated if no step was saved.
  metrics_.cut_after(resumed ? progress_.step : -1), theta_.cut_after(resumed ? progress_.step : -1);
  if (resumed) return;
  progress_.by_layer = supernet_.choice().by_layer();
  write_theta(supernet_.choice(), settings.temperature);
}

Turn SeedRun::step() {
  const int64_t index = progress_.step;
  const Turn turn = supernet_.schedule().at(index);
  const train::StepResult made_step = update(index, turn);
  metrics_.append({{"step", progress_.step},
                   {"turn", turn.theta ? "theta" : "weights"},
                   {"loss", made_step.loss},
                   {"norm", made_step.gradient_norm},
                   {"rate", made_step.learning_rate},
                   {"temperature", turn.temperature},
                   {"seconds", progress_.seconds}});
  if (!turn.theta) return turn;
  const Choice choice = supernet_.choice();
  const bool changed = choice.by_layer() != progress_.by_layer;
  if (changed) progress_.by_layer = choice.by_layer(), progress_.last_change = progress_.step;
  progress_.converged = supernet_.schedule().converged(progress_.last_change, progress_.step);
  const int64_t all = supernet_.schedule().theta_updates(), every = std::max<int64_t>(1, all / kLinesOfTheta);
  if (changed || progress_.converged || turn.number % every == 0 || turn.number == all)
    write_theta(choice, turn.temperature);
  return turn;
}

void SeedRun::save() {
  metrics_.sync(), theta_.sync();
  store::save_checkpoint(folder_ / "checkpoints", progress_.step, parameters(), states(),
                         heed::to_json(progress_));
}

void SeedRun::write_result() const {
  const int64_t seed = recipe_.training.seed;
  const SeedResult result{seed,
                          progress_.step,
                          progress_.last_change,
                          progress_.converged,
                          progress_.loss.average,
                          progress_.seconds,
                          supernet_.choice()};
  store::write_json_object(folder_ / "found.json",
                           spec::to_json(retraining_of(asked_, result.choice.found())));
  write_file(folder_ / "probabilities.svg",
             choice_chart(result.choice, text("Probabilities by layer, seed ", seed)));
  std::vector<ChoiceAt> course;
  for (const Json& line : store::read_lines(folder_ / "theta.jsonl"))
    course.push_back({line.value("step", int64_t{0}),
                      {settings_.letters, read_probabilities(line, settings_, folder_ / "theta.jsonl")}});
  write_file(folder_ / "course.svg", course_chart(course, text("Probabilities over time, seed ", seed)));
  store::write_json_object(folder_ / kResultFile, to_json(result));  // last: with it the seed is done
}

train::StepResult SeedRun::update(int64_t index, const Turn& turn) {
  const std::string rates = "try a smaller --weight-rate or --theta-rate, or a higher --final-temperature";
  const double begin = now_seconds();
  train::StepResult made_step;
  try {
    made_step = supernet_.step(index, train::seen_before(recipe_.training, *batches_, index),
                               [&](int64_t chunk, const Batch&) {
                                 batches_->fill(index, chunk, turn.theta ? theta_batch_ : weights_batch_);
                               });
  } catch (const Error& error) {
    throw Error(error.kind(), text("supernet: iteration ", index + 1, ", update ", turn.number, " of ",
                                   turn.theta ? "logits" : "weights", ": ", error.what(), "; here: ", rates));
  }
  progress_.step = index + 1;
  progress_.seconds += now_seconds() - begin;
  progress_.loss.add(index, made_step.loss, "Here: " + rates);
  return made_step;
}

void SeedRun::write_theta(const Choice& choice, double temperature) {
  theta_.append({{"step", progress_.step},
                 {"temperature", temperature},
                 {"by_layer", progress_.by_layer},
                 {"probabilities", choice.probabilities}});
}

}  // namespace heed::search
