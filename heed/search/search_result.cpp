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
      "planned_bytes,measured_bytes,spec\n";
  for (const FoundModel& m : models) {
    std::string picks;
    for (const std::string& pick : m.picks) picks += (picks.empty() ? "" : "; ") + pick;
    const Cost& cost = m.predicted.cost;
    csv += csv_cell(m.name) + "," + csv_cell(picks) + ",";
    char numbers[320];
    std::snprintf(numbers, sizeof numbers, "%.6g,%lld,%lld,%.4f,%.4f,%.4f,%.4f,%lld,%lld,", m.predicted.score,
                  static_cast<long long>(cost.decoder), static_cast<long long>(cost.total),
                  1e3 * cost.latency, 1e3 * m.measured.median, 1e3 * m.measured.low, 1e3 * m.measured.high,
                  static_cast<long long>(m.planned), static_cast<long long>(m.resident));
    csv += numbers + csv_cell(heed::to_json(m.model).dump()) + "\n";
  }
  return csv;
}

std::string frontier_csv(const spec::Space& space, const std::vector<Evaluated>& frontier) {
  std::string csv = "model,score,decoder_params,total_params,predicted_ms,planned_bytes\n";
  for (const Evaluated& e : frontier)
    csv += csv_cell(space.key_of(e.candidate)) + text(",", e.score, ",", e.cost.decoder, ",", e.cost.total,
                                                      ",", 1e3 * e.cost.latency, ",", e.cost.memory(), "\n");
  return csv;
}

}  // namespace

Json to_json(const FoundModel& m) {
  return {{"name", m.name},
          {"picks", m.picks},
          {"score", m.predicted.score},
          {"decoder_params", m.predicted.cost.decoder},
          {"total_params", m.predicted.cost.total},
          {"predicted_seconds", m.predicted.cost.latency},
          {"measured_seconds",
           {{"median", m.measured.median}, {"low", m.measured.low}, {"high", m.measured.high}}},
          {"planned_bytes", m.planned},
          {"measured_bytes", m.resident},
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
          {"seconds",
           {{"profile", r.seconds_profile}, {"search", r.seconds_search}, {"measure", r.seconds_measure}}}};
}

spec::Recipe baseline_recipe(const spec::Space& space, const std::vector<Evaluated>& frontier,
                             const std::string& name, const spec::ModelSpec& model) {
  spec::Recipe recipe = space.recipe_of(frontier.at(0).candidate);
  recipe.about = name + ", to compare with";
  recipe.model = model;
  return recipe;
}

void write_result(const fs::path& folder, const spec::Space& space, const std::vector<Evaluated>& frontier,
                  const SearchResult& result) {
  fs::create_directories(folder / "models");
  for (const FoundModel& m : result.models) {
    const Json recipe = spec::to_json(space.recipe_of(m.predicted.candidate));
    store::write_json_object(folder / "models" / (m.name + ".json"), recipe);
    if (!m.picks.empty() && m.picks[0] == "best") store::write_json_object(folder / "pick", recipe);
  }
  for (const FoundModel& m : result.baselines)
    store::write_json_object(folder / "models" / (m.name + ".json"),
                             spec::to_json(baseline_recipe(space, frontier, m.name, m.model)));
  write_file(folder / "pareto.csv", pareto_csv(result.models));
  write_file(folder / "frontier.csv", frontier_csv(space, frontier));
  store::write_json_object(folder / "search.json", to_json(result));
}

}  // namespace heed::search
