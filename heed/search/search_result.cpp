#include "heed/search/search_result.h"

#include <cstdio>

#include "heed/base/csv.h"
#include "heed/base/files.h"
#include "heed/store/json_file.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

std::string pareto_csv(const std::vector<FoundModel>& models) {
  std::string csv =
      "name,pick,score,decoder_params,total_params,predicted_ms,measured_ms,measured_low_ms,measured_high_ms,"
      "predicted_step_ms,step_ms,step_low_ms,step_high_ms,predicted_first_token_ms,first_token_ms,first_"
      "token_low_ms,first_token_high_ms,planned_bytes,measured_bytes,file_bytes,"
      "trained_tokens,trained_bits_per_byte,spec\n";
  const auto milliseconds = [](double predicted, const measure::Timing& t) {
    return text(1e3 * predicted, ",", 1e3 * t.median, ",", 1e3 * t.low, ",", 1e3 * t.high, ",");
  };
  for (const FoundModel& m : models) {
    std::string picks;
    for (const std::string& pick : m.picks) picks += (picks.empty() ? "" : "; ") + pick;
    const Cost& cost = m.predicted.cost;
    csv += text(csv_cell(m.name), ",", csv_cell(picks), ",", m.predicted.score, ",", cost.decoder, ",",
                cost.total, ",", milliseconds(cost.latency, m.measured),
                milliseconds(cost.step, m.measured_step), milliseconds(cost.first_token(), m.first_token()),
                m.planned, ",", m.resident, ",", cost.file(), ",");
    csv += m.trained.empty() ? "," : text(m.trained.back().tokens, ",", m.trained.back().bits_per_byte);
    csv += text(",", csv_cell(heed::to_json(m.model).dump()), "\n");
  }
  return csv;
}

std::string frontier_csv(const spec::Space& space, const std::vector<Evaluated>& frontier) {
  std::string csv =
      "model,score,decoder_params,total_params,predicted_ms,predicted_step_ms,predicted_first_token_ms,"
      "planned_bytes\n";
  for (const Evaluated& e : frontier)
    csv += text(csv_cell(space.key_of(e.candidate)), ",", e.score, ",", e.cost.decoder, ",", e.cost.total,
                ",", 1e3 * e.cost.latency, ",", 1e3 * e.cost.step, ",", 1e3 * e.cost.first_token(), ",",
                e.cost.memory(), "\n");
  return csv;
}

}  // namespace

measure::Timing FoundModel::first_token() const {
  measure::Timing sum = measured;
  sum.median += measured_load.median, sum.low += measured_load.low, sum.high += measured_load.high;
  return sum;
}

measure::Timing FoundModel::time(Objective objective) const {
  if (objective == Objective::kFirstToken) return first_token();
  return objective == Objective::kStep ? measured_step : measured;
}

Json to_json(const FoundModel& m) {
  Json trained = Json::array();
  for (const Moment& moment : m.trained)
    trained.push_back({{"tokens", moment.tokens}, {"bits_per_byte", moment.bits_per_byte}});
  const auto seconds = [](const measure::Timing& t) {
    return Json{{"median", t.median}, {"low", t.low}, {"high", t.high}, {"held", t.held()}};
  };
  return {{"name", m.name},
          {"picks", m.picks},
          {"score", m.predicted.score},
          {"decoder_params", m.predicted.cost.decoder},
          {"total_params", m.predicted.cost.total},
          {"predicted_seconds", m.predicted.cost.latency},
          {"measured_seconds", seconds(m.measured)},
          {"predicted_step_seconds", m.predicted.cost.step},
          {"step_seconds", seconds(m.measured_step)},
          {"predicted_first_token_seconds", m.predicted.cost.first_token()},
          {"first_token_seconds", seconds(m.first_token())},
          {"planned_bytes", m.planned},
          {"measured_bytes", m.resident},
          {"file_bytes", m.predicted.cost.file()},
          {"trained", trained},
          {"spec", heed::to_json(m.model)}};
}

Json to_json(const SearchResult& r) {
  const auto list = [](const std::vector<FoundModel>& models) {
    Json all = Json::array();
    for (const FoundModel& m : models) all.push_back(to_json(m));
    return all;
  };
  return {{"evaluated", r.evaluated},
          {"frontier", r.frontier},
          {"models", list(r.models)},
          {"dominated", list(r.dominated)},
          {"dropped", list(r.dropped)},
          {"baselines", list(r.baselines)},
          {"rivals", list(r.rivals)},
          {"seconds",
           {{"profile", r.seconds_profile},
            {"fit", r.seconds_fit},
            {"search", r.seconds_search},
            {"measure", r.seconds_measure},
            {"train", r.seconds_train},
            {"compare", r.seconds_compare}}}};
}

FoundModel* SearchResult::recommended() {
  return const_cast<FoundModel*>(std::as_const(*this).recommended());
}

const FoundModel* SearchResult::recommended() const {
  for (const FoundModel& model : models) {
    if (!model.picks.empty() && model.picks[0] == kRecommended) return &model;
  }
  return nullptr;
}

spec::Recipe baseline_recipe(const spec::Space& space, const std::string& name,
                             const spec::ModelSpec& model) {
  spec::Recipe recipe = space.recipe_of({{space.width.front(), 0, 1, model.embedding.vocabulary}, {}});
  recipe.about = name + ", to compare with";
  recipe.model = model;
  return recipe;
}

void write_result(const fs::path& folder, const spec::Space& space, const std::vector<Evaluated>& frontier,
                  const SearchResult& result) {
  fs::create_directories(folder / kModelsFolder);
  for (const FoundModel& m : result.models) {
    const Json recipe = spec::to_json(space.recipe_of(m.predicted.candidate));
    store::write_json_object(folder / kModelsFolder / (m.name + ".json"), recipe);
    if (!m.picks.empty() && m.picks[0] == kRecommended) store::write_json_object(folder / kPickFile, recipe);
  }
  for (const auto* others : {&result.baselines, &result.rivals}) {
    for (const FoundModel& m : *others)
      store::write_json_object(folder / kModelsFolder / (m.name + ".json"),
                               spec::to_json(baseline_recipe(space, m.name, m.model)));
  }
  write_file(folder / "pareto.csv", pareto_csv(result.models));
  write_file(folder / "frontier.csv", frontier_csv(space, frontier));
  store::write_json_object(folder / kResultFile, to_json(result));
}

}  // namespace heed::search
