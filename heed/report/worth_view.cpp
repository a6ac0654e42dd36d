#include <algorithm>
#include <map>

#include "heed/base/files.h"
#include "heed/model/model.h"
#include "heed/report/views.h"
#include "heed/report/worth_json.h"
#include "heed/search/model_table.h"
#include "heed/search/worth/law_file.h"
#include "heed/search/worth/law_table.h"
#include "heed/spec/space_definition.h"
#include "heed/store/json_file.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

// A model of the sample.
struct SampleModel {
  std::string name;
  spec::ModelSpec spec;
  double tokens = 0, bits_per_byte = 0;  // at the end
};

std::vector<SampleModel> sample_of(const Json& stored) {
  std::vector<SampleModel> sample;
  for (const Json& model : stored.at("models")) {
    const Json& last = model.at("moments").back();
    sample.push_back({model.at("name"), spec::read_model_spec(model.at("spec"), search::kLawFile),
                      last.at("tokens"), last.at("bits_per_byte")});
  }
  return sample;
}

Json model_json(const std::string& name, const spec::ModelSpec& spec, const Json& predicted,
                const Json& moments) {
  return {{"name", name},
          {"arch", spec.arch},
          {"width", spec.width},
          {"vocabulary", spec.embedding.vocabulary},
          {"parameters", model::count_parameters(spec).total},
          {"predicted", predicted},
          {"measured", moments.back().at("bits_per_byte")},
          {"moments", moments_json(moments)}};
}

Json models_json(const Json& stored, const std::vector<SampleModel>& sample) {
  Json models = Json::array();
  for (size_t i = 0; i < sample.size(); ++i) {
    const Json& model = stored.at("models").at(i);
    models.push_back(model_json(sample[i].name, sample[i].spec, model.at("predicted"), model.at("moments")));
  }
  return models;
}

// Those that are trained so far, before there is a law.
Json models_so_far(const fs::path& table) {
  const MappedFile file(table);
  const Csv csv(file.text(), table.string());
  Json models = Json::array(), moments = Json::array();
  for (size_t row = 0; row < csv.rows(); ++row) {
    moments.push_back(
        {{"tokens", csv.number(row, "tokens")}, {"bits_per_byte", csv.number(row, "bits_per_byte")}});
    if (csv.integer(row, "last") == 0) continue;
    models.push_back(model_json(csv.at(row, "model"), search::model_in_row(csv, row), Json(), moments));
    moments.clear();
  }
  return models;
}

// For each width its median model: half of the others reached less, half more. What one more block gains
// depends on what the model has already.
Json rates_of(std::vector<SampleModel> sample, const spec::Space& space, const search::Law& law) {
  std::ranges::stable_sort(sample, {}, &SampleModel::bits_per_byte);
  std::map<int64_t, std::vector<SampleModel>> by_width;
  for (const SampleModel& model : sample) by_width[model.spec.width].push_back(model);
  Json rates = Json::array();
  for (const auto& [width, models] : by_width) {
    const SampleModel& median = models[models.size() / 2];
    rates.push_back(rates_json(median.name, median.spec, space, law, median.tokens));
  }
  return rates;
}

// The name of the text, from the first model's run.
std::string text_of(const fs::path& run) {
  const fs::path record = run / "m001" / "run.json";
  if (!fs::exists(record)) return "";
  const Json::json_pointer path("/data/path");
  const Json json = store::read_json_object(record);
  return json.contains(path) ? fs::path(json.at(path).get<std::string>()).filename().string() : "";
}

RunView read(const fs::path& run) {
  RunView view;
  const Json config = spec::with_space_definition(store::read_json_object(run / "config.json"));
  const spec::Space space =
      spec::read_space(config.at(spec::kSpaceDefinition), (run / "config.json").string());
  const bool done = fs::exists(run / search::kLawFile);
  view.json = {{"space", config.at("space")},
               {"text", ""},
               {"tokens", config.at("settings").at("tokens")},
               {"planned", config.at("settings").at("models")},
               {"begun", models_begun(run)},
               {"quality", Json()},
               {"models", Json::array()},
               {"rates", Json::array()},
               {"ranking", Json()},
               {"state", state_of(run, done)}};
  view.try_to([&] { view.json["text"] = text_of(run); });
  if (!done) {
    const fs::path table = run / search::kLawTable;
    if (fs::exists(table)) view.try_to([&] { view.json["models"] = models_so_far(table); });
    return view;
  }
  view.try_to([&] {
    const Json stored = store::read_json_object(run / search::kLawFile);
    const std::vector<SampleModel> sample = sample_of(stored);
    view.json["quality"] = stored.at("quality");
    view.json["models"] = models_json(stored, sample);
    const search::Law law = search::read_law(stored.at("law"), (run / search::kLawFile).string());
    view.json["rates"] = rates_of(sample, space, law);
  });
  view.try_to([&] { view.json["ranking"] = read_ranking(run); });
  return view;
}

}  // namespace

View worth_view() {
  return {"worth", store::RunKind::kWorth, []() -> Reading { return read; }};
}

}  // namespace heed::report
