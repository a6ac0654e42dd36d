// What a task measures when a model is scored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/tensor/batch.h"

namespace heed::train {

struct Metric {
  std::string name;  // its key in metrics.jsonl
  double value = 0;
  bool higher_is_better = false;

  bool is_better_than(double other) const { return higher_is_better ? value > other : value < other; }
};

struct Score {
  double nats = 0;                   // sum over all counted tokens
  int64_t tokens = 0;                // counted
  std::vector<Metric> metrics = {};  // the first decides which model is best

  double mean() const { return tokens ? nats / static_cast<double>(tokens) : 0; }
  double perplexity() const;
  double bits_per_token() const;
};

class Meter {
 public:
  virtual ~Meter() = default;
  // After a run of the scoring program. losses: one per target; scores: what the head computes besides, empty
  // if nothing.
  virtual void add(std::span<const float> losses, std::span<const float> scores) = 0;
  virtual Score score() const = 0;
};

// The mean loss of all targets that count.
class LossMeter : public Meter {
 public:
  explicit LossMeter(const Batch& batch) : targets_(batch.ints("targets")) {}
  void add(std::span<const float> losses, std::span<const float> scores) override;
  Score score() const override;

 private:
  std::span<const int32_t> targets_;
  double nats_ = 0;
  int64_t tokens_ = 0;
};

}  // namespace heed::train
