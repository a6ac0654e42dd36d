#include "heed/search/trained_models.h"

#include <cmath>
#include <cstdio>
#include <set>

#include "heed/base/csv.h"
#include "heed/base/files.h"
#include "heed/search/strategies/genes.h"
#include "heed/train/resuming.h"

namespace heed::search {
namespace {

constexpr int64_t kMostAttempts = 20000;

class Observer : public train::RunObserver {
 public:
  explicit Observer(TrainedModelsObserver& outer) : outer_(outer) {}
  void note(const std::string& sentence) override { outer_.note(sentence); }
  void step(const train::StepReport& report) override { outer_.step(report); }
  void evaluated(int64_t, const train::Score&, double, bool) override {}
  bool stop() override { return outer_.stop(); }

 private:
  TrainedModelsObserver& outer_;
};

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

std::vector<TableRow> train_models(const TrainedModelsRequest& request, TrainedModelsObserver& observer) {
  if (request.models < 2)
    throw usage_error("rank: --models is ", request.models, "; a ranking needs 2 or more");
  const bool per_byte = request.space.vocabulary.size() > 1;
  std::vector<TableRow> rows;
  std::vector<std::string> settings = {"arch", "width", "embedding_width", "division", "vocabulary"};
  for (const spec::Size& size : spec::sizes()) settings.push_back(size.name);
  std::string csv = "id";
  for (const std::string& setting : settings) csv += "," + setting;
  csv += ",tgt_len,valid_ppl,spec\n";
  for (const spec::Candidate& candidate : draw_models(request)) {
    char name[16];
    std::snprintf(name, sizeof name, "m%03zu", rows.size() + 1);
    observer.begin(static_cast<int64_t>(rows.size()), request.space.key_of(candidate));
    train::RunRequest run;
    run.recipe = request.space.recipe_of(candidate);
    run.recipe.name = name;
    run.data = request.data;
    run.folder = request.folder / name;
    run.record = request.record;
    Observer inner(observer);
    const train::RunResult result = train::run_training(run, inner);
    if (!result.finished) throw train::interrupted_run();
    TableRow row;
    row.id = name;
    row.recipe = run.recipe;
    row.length = request.space.length;
    const double nats =
        per_byte && result.bytes_per_token > 0 ? result.best / result.bytes_per_token : result.best;
    if (result.best_step > 0) row.perplexity = std::exp(nats);
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
