// Scores of models that take long to compute. Each is on disk as soon as it is known, so that a ranking that
// was stopped or killed resumes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include "heed/store/line_log.h"

namespace heed::search {

struct TimedScore {
  double value = 0;  // NaN if the model has none
  double seconds = 0;
};

class ScoreLog {
 public:
  // scores.jsonl of the folder.
  explicit ScoreLog(const std::filesystem::path& folder);

  // `key` stands for everything that the score depends on.
  std::optional<TimedScore> find(const std::string& key) const;
  // proxy and model: for people who read the file.
  void add(const std::string& key, const std::string& proxy, const std::string& model,
           const TimedScore& score);

 private:
  std::map<std::string, TimedScore> known_;
  store::LineLog log_;
};

}  // namespace heed::search
