// The evaluations and measurements of a search, in heed.db of its folder: written by the search, read by the
// report.
#pragma once

#include <map>
#include <optional>

#include "heed/measure/yardstick.h"
#include "heed/search/search_result.h"
#include "heed/store/database.h"

namespace heed::search {

// A candidate that was evaluated, under its name in the space.
struct RecordedEvaluation {
  std::string key;
  Cost cost;
  double score = 0;
};

enum class ModelRole {
  kModel,
  kBaseline,
  kRival,  // a published arrangement, scaled to the latency of the recommended model
};

class Records {
 public:
  explicit Records(const std::filesystem::path& folder);

  std::optional<Evaluated> find(const std::string& key, const spec::Candidate& candidate) const;
  // All of a batch at once. `specs`: as JSON, for readers of the database.
  void save(const std::vector<std::pair<std::string, Evaluated>>& batch,
            const std::vector<std::string>& specs);
  size_t evaluated() const { return known_.size(); }

  // Measurements come in series: what was measured in one holds until a new one is begun, with all rounds
  // after those before it.
  void begin_series() { ++series_; }
  int64_t first_round() const { return series_ * kRoundsOfSeries; }
  std::optional<measure::WholeTiming> measurement(const std::string& key, int64_t round) const;
  void save(const std::string& key, int64_t round, const measure::WholeTiming& measurement);
  // A model that is about to be measured under this key, for readers of the database.
  void save(const std::string& key, const FoundModel& model, ModelRole role);

  static constexpr int64_t kRoundsOfSeries = 1000;

 private:
  store::Database database_;
  int64_t series_ = 0;
  std::map<std::string, RecordedEvaluation> known_;
  std::map<std::pair<std::string, int64_t>, measure::WholeTiming> measured_;
};

// Every evaluation, in the order in which they were made. The database is not changed.
std::vector<RecordedEvaluation> read_evaluations(const std::filesystem::path& folder);

// Models that were measured at least once, as search.json has them, with their role: its models, or what is
// known before the search ends. None in a database of an earlier version.
struct MeasuredModel {
  ModelRole role;
  Json model;
};
std::vector<MeasuredModel> read_measured_models(const std::filesystem::path& folder);

}  // namespace heed::search

namespace heed {
template <>
struct EnumNames<search::ModelRole> {
  static constexpr std::pair<search::ModelRole, const char*> names[] = {
      {search::ModelRole::kModel, "model"},
      {search::ModelRole::kBaseline, "baseline"},
      {search::ModelRole::kRival, "rival"}};
};
}  // namespace heed
