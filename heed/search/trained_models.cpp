#include "heed/search/trained_models.h"

#include <cmath>
#include <cstdio>
#include <set>

#include "heed/base/csv.h"
#include "heed/base/files.h"
#include "heed/search/strategies/genes.h"

namespace heed::search {
namespace {

constexpr int64_t kMostAttempts = 20000;

std::vector<spec::Candidate> draw_models(const TrainedModelsRequest& request) {
  const spec::Space& space = request.space;
  const GenePool pool(space);
  Rng rng(static_cast<uint64_t>(request.seed));
  std::vector<spec::Candidate> drawn;
  std::set<spec::Candidate> seen;
  for (int64_t attempts = 0; static_cast<int64_t>(drawn.size()) < request.models; ++attempts) {
    if (attempts == kMostAttempts)
      throw usage_error("rank: only ", drawn.size(), " different models of ", space.name,
                        " were found; ask for fewer");
    auto candidate = pool.decode(pool.draw(rng));
    if (!candidate || seen.contains(*candidate)) continue;
    const model::ParameterCount count = model::count_parameters(space.model_of(*candidate));
    if (!space.allows_size(count.decoder, count.total)) continue;
    seen.insert(*candidate);
    drawn.push_back(std::move(*candidate));
    attempts = 0;
  }
  return drawn;
}

}  // namespace

std::vector<TableRow> train_models(const TrainedModelsRequest& request, ShortTrainingObserver& observer) {
  if (request.models < 2)
    throw usage_error("rank: --models is ", request.models, "; a ranking needs 2 or more");
  std::vector<ShortTraining> models;
  for (const spec::Candidate& candidate : draw_models(request)) {
    char name[16];
    std::snprintf(name, sizeof name, "m%03zu", models.size() + 1);
    models.push_back({name, request.space.recipe_of(candidate)});
    models.back().recipe.name = name;
    models.back().work = static_cast<double>(model::count_parameters(models.back().recipe.model).total);
  }
  const bool per_byte = request.space.vocabulary.size() > 1;
  std::set<int64_t> checked;
  for (const ShortTraining& model : models) {
    if (per_byte && checked.insert(model.recipe.data.vocabulary).second)
      check_comparable(model.recipe, request.data, request.folder);
  }
  train_shortly(models, request.data, request.folder, request.record, {}, observer);

  std::vector<TableRow> rows;
  std::vector<std::string> settings = {"arch", "width", "embedding_width", "division", "vocabulary"};
  for (const spec::Size& size : spec::sizes()) settings.push_back(size.name);
  std::string csv = "id";
  for (const std::string& setting : settings) csv += "," + setting;
  csv += ",tgt_len,valid_ppl,spec\n";
  for (const ShortTraining& model : models) {
    TableRow row;
    row.id = model.name;
    row.recipe = model.recipe;
    row.length = request.space.length;
    if (!model.moments.empty()) {
      const double bits = std::ranges::min(model.moments, {}, &Moment::bits_per_byte).bits_per_byte;
      row.perplexity = std::exp2(per_byte ? bits : bits * model.text.bytes_per_token());
    }
    const Json spec = to_json(row.recipe.model);
    csv += csv_cell(row.id);
    for (const std::string& key : settings)
      csv += "," + csv_cell(spec[key].is_string() ? spec[key].get<std::string>() : spec[key].dump());
    csv += text(",", row.length, ",", row.perplexity ? text(*row.perplexity) : "", ",") +
           csv_cell(spec.dump()) + "\n";
    rows.push_back(std::move(row));
  }
  write_file(request.folder / "models.csv", csv);
  return rows;
}

}  // namespace heed::search
