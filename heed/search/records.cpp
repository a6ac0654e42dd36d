#include "heed/search/records.h"

#include "heed/base/json.h"
#include "heed/store/json_file.h"

namespace heed::search {
namespace {

using store::Statement;

constexpr const char* kDatabase = "heed.db";

std::vector<RecordedEvaluation> evaluations_in(const store::Database& database) {
  std::vector<RecordedEvaluation> all;
  // Databases of earlier versions know neither steps nor loading.
  const char* step = database.has_column("evaluations", "step") ? "step" : "0";
  const char* load = database.has_column("evaluations", "load") ? "load" : "0";
  Statement rows(database, text("SELECT key, score, latency, decoder, total, resident, arena, ", step, ", ",
                                load, " FROM evaluations ORDER BY rowid"));
  while (rows.step()) {
    all.push_back({rows.text(0),
                   {rows.real(2), rows.integer(3), rows.integer(4), rows.integer(5), rows.integer(6)},
                   rows.real(1)});
    all.back().cost.step = rows.real(7), all.back().cost.load = rows.real(8);
  }
  return all;
}

// The column of measurements; databases of version 0.1.0 do not have it.
const char* yardstick_in(const store::Database& database) {
  return database.has_column("measurements", "yardstick") ? "yardstick" : "0";
}

// Before the search ends.
std::vector<MeasuredModel> measured_in(const store::Database& database) {
  if (!Statement(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'models'").step())
    return {};
  std::vector<MeasuredModel> all;
  Statement models(database, "SELECT baseline, key, model FROM models ORDER BY rowid");
  Statement rounds(database, text("SELECT median, low, high, runs, bytes, ", yardstick_in(database),
                                  " FROM measurements WHERE key = ? AND round >= (SELECT max(round) / ",
                                  Records::kRoundsOfSeries, " * ", Records::kRoundsOfSeries,
                                  " FROM measurements) ORDER BY round"));
  while (models.step()) {
    std::vector<measure::Timing> timings;
    int64_t bytes = 0;
    const std::string key = models.text(1);
    for (rounds.with(std::string_view(key)); rounds.step();) {
      timings.push_back({rounds.real(0), rounds.real(1), rounds.real(2), static_cast<int>(rounds.integer(3)),
                         rounds.real(5)});
      bytes = std::max(bytes, rounds.integer(4));
    }
    if (timings.empty()) continue;
    const measure::Timing whole = measure::combine(timings);
    Json model = parse_json(models.text(2));
    model["measured_seconds"] = {{"median", whole.median}, {"low", whole.low}, {"high", whole.high}};
    model["measured_bytes"] = bytes;
    all.push_back({models.integer(0) ? ModelRole::kBaseline : ModelRole::kModel, std::move(model)});
  }
  return all;
}

}  // namespace

Records::Records(const std::filesystem::path& folder) : database_(folder / kDatabase) {
  database_.transaction([&] {
    database_.execute(
        "CREATE TABLE IF NOT EXISTS evaluations (key TEXT PRIMARY KEY, spec TEXT NOT NULL, score REAL NOT "
        "NULL, "
        "latency REAL NOT NULL, decoder INTEGER NOT NULL, total INTEGER NOT NULL, resident INTEGER NOT NULL, "
        "arena INTEGER NOT NULL, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, step REAL NOT NULL DEFAULT "
        "0, load REAL NOT NULL DEFAULT 0)");
    for (const char* column : {"step", "load"}) {
      if (!database_.has_column("evaluations", column))
        database_.execute(text("ALTER TABLE evaluations ADD COLUMN ", column, " REAL NOT NULL DEFAULT 0"));
    }
    database_.execute(
        "CREATE TABLE IF NOT EXISTS measurements (key TEXT NOT NULL, round INTEGER NOT NULL, median REAL NOT "
        "NULL, "
        "low REAL NOT NULL, high REAL NOT NULL, runs INTEGER NOT NULL, bytes INTEGER NOT NULL, "
        "made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, yardstick REAL NOT NULL DEFAULT 0, "
        "tail REAL NOT NULL DEFAULT 1, PRIMARY KEY (key, round))");
    for (const char* column : {"yardstick REAL NOT NULL DEFAULT 0", "tail REAL NOT NULL DEFAULT 1"}) {
      const std::string name = std::string(column).substr(0, std::string_view(column).find(' '));
      if (!database_.has_column("measurements", name.c_str()))
        database_.execute(text("ALTER TABLE measurements ADD COLUMN ", column));
    }
    database_.execute(
        "CREATE TABLE IF NOT EXISTS models (name TEXT PRIMARY KEY, baseline INTEGER NOT NULL, key TEXT NOT "
        "NULL, model TEXT NOT NULL)");
  });
  for (RecordedEvaluation& evaluation : evaluations_in(database_))
    known_[evaluation.key] = std::move(evaluation);
  Statement measured(database_,
                     "SELECT key, round, median, low, high, runs, bytes, yardstick, tail FROM measurements");
  while (measured.step()) {
    measured_[{measured.text(0), measured.integer(1)}] = {
        {measured.real(2), measured.real(3), measured.real(4), static_cast<int>(measured.integer(5)),
         measured.real(7), measured.real(8)},
        measured.integer(6)};
    series_ = std::max(series_, measured.integer(1) / kRoundsOfSeries);
  }
}

std::optional<Evaluated> Records::find(const std::string& key, const spec::Candidate& candidate) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return std::nullopt;
  return Evaluated{candidate, found->second.cost, found->second.score};
}

void Records::save(const std::vector<std::pair<std::string, Evaluated>>& batch,
                   const std::vector<std::string>& specs) {
  if (batch.empty()) return;
  database_.transaction([&] {
    Statement insert(database_,
                     "INSERT OR REPLACE INTO evaluations (key, spec, score, latency, decoder, total, "
                     "resident, arena, step, load) "
                     "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto& [key, e] = batch[i];
      insert
          .with(std::string_view(key), std::string_view(specs[i]), e.score, e.cost.latency, e.cost.decoder,
                e.cost.total, e.cost.resident, e.cost.arena, e.cost.step, e.cost.load)
          .run();
    }
  });
  for (const auto& [key, e] : batch) known_[key] = {key, e.cost, e.score};
}

std::optional<measure::WholeTiming> Records::measurement(const std::string& key, int64_t round) const {
  const auto found = measured_.find({key, round});
  return found == measured_.end() ? std::nullopt : std::optional(found->second);
}

void Records::save(const std::string& key, int64_t round, const measure::WholeTiming& m) {
  database_.transaction([&] {
    Statement(database_,
              "INSERT OR REPLACE INTO measurements (key, round, median, low, high, runs, bytes, yardstick, "
              "tail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(std::string_view(key), round, m.timing.median, m.timing.low, m.timing.high,
              int64_t{m.timing.runs}, m.bytes, m.timing.yardstick, m.timing.tail)
        .run();
  });
  measured_[{key, round}] = m;
}

void Records::save(const std::string& key, const FoundModel& model, ModelRole role) {
  Statement(database_, "INSERT OR REPLACE INTO models (name, baseline, key, model) VALUES (?, ?, ?, ?)")
      .with(std::string_view(model.name), int64_t{role == ModelRole::kBaseline}, std::string_view(key),
            std::string_view(to_json(model).dump()))
      .run();
}

std::vector<RecordedEvaluation> read_evaluations(const std::filesystem::path& folder) {
  return evaluations_in(store::Database(folder / kDatabase, store::Database::kReadOnly));
}

std::vector<MeasuredModel> read_measured_models(const std::filesystem::path& folder) {
  using enum ModelRole;
  if (!std::filesystem::exists(folder / "search.json"))
    return measured_in(store::Database(folder / kDatabase, store::Database::kReadOnly));
  const Json result = store::read_json_object(folder / "search.json");
  std::vector<MeasuredModel> models;
  for (const auto& [list, role] :
       {std::pair{"models", kModel}, {"dominated", kModel}, {"dropped", kModel}, {"baselines", kBaseline}}) {
    for (const Json& found : result.at(list)) models.push_back({role, found});
  }
  // Earlier versions compared with none.
  for (const Json& found : result.value("rivals", Json::array())) models.push_back({kRival, found});
  return models;
}

}  // namespace heed::search
