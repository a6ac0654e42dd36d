#include "heed/search/supernet/supernet_run.h"

#include <algorithm>
#include <cmath>

#include "heed/base/files.h"
#include "heed/search/supernet/block_times.h"
#include "heed/search/supernet/charts.h"
#include "heed/store/json_file.h"
#include "heed/train/resuming.h"
#include "heed/train/text_run.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

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
        text_(store::RunKind::kSupernet, request.recipe, request.data, request.folder,
              [&](const std::string& sentence) { observer.note(sentence); }),
        recipe_(text_.recipe()) {
    const auto config = [](const spec::Recipe& recipe, const SupernetSettings& settings) {
      return Json{{"recipe", spec::to_json(recipe)}, {"settings", heed::to_json(settings)}};
    };
    text_.open(config(recipe_, request.settings), request.record,
               {.upgrade =
                    [&](const Json& before) {
                      const std::string what = (request.folder / "config.json").string();
                      return config(
                          spec::read_recipe(before.value("recipe", Json()), what),
                          from_json<SupernetSettings>(before.value("settings", Json::object()), what));
                    }},
               [&] { prepare(); });
  }

  SupernetResult run() {
    const SupernetSettings& s = result_.settings;
    if (s.latency_term != LatencyTerm::kNone) result_.times = times();
    if (s.anneal == Anneal::kEpoch)
      observer_.note(text("annealing by epoch: the temperature falls by ", s.epoch_factor, " after each ",
                          s.cycle, " iterations and ends at ",
                          SupernetSchedule(s).at(s.steps - 1).temperature,
                          "; above 1 mixtures stay nearly even"));
    for (int64_t nth = 0; nth < request_.seeds; ++nth) {
      if (!SeedResult::is_in(folder_of(recipe_.training.seed + nth)))
        run_seed(recipe_.training.seed + nth, nth);
      gather();
    }
    return std::move(result_);
  }

 private:
  // Everything that may still throw: the sizes.
  void prepare() {
    // Resolved once: a later version may have other defaults.
    const fs::path settings = request_.folder / "settings.json";
    result_.settings = fs::exists(settings)
                           ? settings_before(settings)
                           : resolved(request_.settings, static_cast<int64_t>(recipe_.model.letters().size()),
                                      recipe_.training.steps, text_.batches().segments());
    static_cast<void>(build_supernet(recipe_, result_.settings, SupernetSchedule(result_.settings)));
    store::write_json_object(settings, heed::to_json(result_.settings));
  }

  static SupernetSettings settings_before(const fs::path& file) {
    try {
      const auto settings = from_json<SupernetSettings>(store::read_json_object(file), file.string());
      validate(settings);
      return settings;
    } catch (const Error& error) {
      throw damaged_error(file.string(), ": ", error.what(),
                          "; is it damaged? Move it away to make it again");
    }
  }

  fs::path folder_of(int64_t seed) const { return request_.folder / text("seed-", seed); }

  // Every finished seed of the folder, requested now or before.
  void gather() {
    text_.folder().check_in_place();
    result_.seeds.clear();
    for (const fs::directory_entry& entry : fs::directory_iterator(request_.folder)) {
      if (SeedResult::is_in(entry.path()))
        result_.seeds.push_back(SeedResult::read(entry.path(), result_.settings));
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
      const BlockTimes measured = block_times(recipe_, result_.settings.letters, request_.profile,
                                              [&](const ProfileProgress& progress) {
                                                observer_.profiling(progress);
                                                observer_.check_stop();
                                              });
      store::write_json_object(file, heed::to_json(measured));
    }
    return from_json<BlockTimes>(store::read_json_object(file), file.string());
  }

  void run_seed(int64_t seed, int64_t nth) {
    SeedRun run(recipe_, seed, result_.settings, result_.times, text_.tokens(), folder_of(seed),
                [&](const std::string& sentence) { observer_.note(sentence); });
    train::RunClock clock(run.progress().step, request_.save_seconds);
    while (!run.done()) {
      const Turn turn = run.step();
      const double rate = clock.steps_per_second(run.progress().step);
      const int64_t steps = result_.settings.steps,
                    left = steps - run.progress().step + (request_.seeds - nth - 1) * steps;
      observer_.step({seed, nth + 1, request_.seeds, run.progress().step, steps, run.done(),
                      run.progress().loss.average, turn.temperature, run.progress().by_layer,
                      rate * static_cast<double>(recipe_.training.batch * recipe_.training.length),
                      static_cast<double>(left) / rate});
      const bool stopped = !run.done() && observer_.stop();
      if (run.done() || stopped || clock.is_time_to_save()) {
        text_.folder().check_in_place();
        run.save();
        clock.saved();
      }
      if (stopped) throw train::interrupted_run();
    }
    run.write_result();
  }

  const SupernetRequest& request_;
  SupernetObserver& observer_;
  train::TextRun text_;
  const spec::Recipe& recipe_;
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
  if (request.seeds < 1) throw usage_error("supernet: ", request.seeds, " seeds; give at least one");
  return SupernetRun(request, observer).run();
}

}  // namespace heed::search
