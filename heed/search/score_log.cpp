#include "heed/search/score_log.h"

#include <cmath>

namespace heed::search {
namespace {

constexpr const char* kFile = "scores.jsonl";

struct Line {
  std::string key, proxy, model;
  Json score;  // null if the model has none
  double seconds = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("key", key, "of everything that the score depends on");
    field("proxy", proxy, "its name");
    field("model", model, "its id");
    field("score", score, "higher is better");
    field("seconds", seconds, "to compute it");
  }
};

}  // namespace

ScoreLog::ScoreLog(const std::filesystem::path& folder) : log_(folder / kFile) {
  for (const Json& json : store::read_lines(folder / kFile)) {
    const auto line = from_json<Line>(json, (folder / kFile).string());
    known_[line.key] = {line.score.is_number() ? line.score.get<double>() : NAN, line.seconds};
  }
}

std::optional<TimedScore> ScoreLog::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void ScoreLog::add(const std::string& key, const std::string& proxy, const std::string& model,
                   const TimedScore& score) {
  const Json value = std::isfinite(score.value) ? Json(score.value) : Json();
  log_.append(to_json(Line{key, proxy, model, value, score.seconds}));
  known_[key] = score;
}

}  // namespace heed::search
