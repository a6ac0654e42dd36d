// The cost and worth of a model: the sums of those of its layers and of the frame around them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/spec/space.h"

namespace heed::search {

// What layers add to a law of quality (worth/law.h): a few sums, in whole units, so that they are the same in
// any order.
using Worth = std::array<int64_t, 2>;

struct Cost {
  double latency = 0;    // seconds for a segment
  int64_t decoder = 0;   // parameters without embedding and output
  int64_t total = 0;     // all parameters
  int64_t resident = 0;  // bytes of weights and state, of the tokenizer and of heed itself
  int64_t arena = 0;     // bytes of a run; layers reuse the same memory
  Worth worth = {};      // 0 without a law
  double step = 0;       // seconds for one more token after a segment
  double load = 0;       // seconds until a segment can be read

  int64_t memory() const { return resident + arena; }  // of a process that serves the model (infer/serving.h)
  double first_token() const { return load + latency; }  // seconds
  // Bytes of the weights on disk in f32, with room for the names of the tensors.
  int64_t file() const { return 4 * total + kFileHeader; }
  static constexpr int64_t kFileHeader = 64 << 10;
  Cost& operator+=(const Cost& part) {
    latency += part.latency;
    step += part.step;
    load += part.load;
    decoder += part.decoder;
    total += part.total;
    resident += part.resident;
    arena = std::max(arena, part.arena);
    for (size_t i = 0; i < worth.size(); ++i) worth[i] += part.worth[i];
    return *this;
  }
  bool operator==(const Cost&) const = default;
};

// The time that a frontier is about.
enum class Objective {
  kPrompt,  // latency
  kStep,
  kFirstToken,
};
inline double time_of(const Cost& cost, Objective objective) {
  if (objective == Objective::kFirstToken) return cost.first_token();
  return objective == Objective::kStep ? cost.step : cost.latency;
}

class Costs {
 public:
  virtual ~Costs() = default;
  virtual Cost of_frame(const spec::Frame& frame) = 0;
  virtual Cost of_layer(int64_t width, const spec::Layer& layer) = 0;

  Cost of(const spec::Candidate& candidate) {
    Cost sum = of_frame(candidate.frame);
    for (const spec::Layer& layer : candidate.layers) sum += of_layer(candidate.frame.width, layer);
    return sum;
  }
};

// The limits of a device.
struct Limits {
  double latency = INFINITY;      // seconds
  double step = INFINITY;         // seconds
  int64_t memory = INT64_MAX;     // bytes, planned
  int64_t total = INT64_MAX;      // parameters
  int64_t file = INT64_MAX;       // bytes
  double first_token = INFINITY;  // seconds, with loading
  bool admit(const Cost& cost) const {
    return cost.latency <= latency && cost.step <= step && cost.first_token() <= first_token &&
           cost.memory() <= memory && cost.total <= most_total();
  }
  double& of(Objective objective) {
    if (objective == Objective::kFirstToken) return first_token;
    return objective == Objective::kStep ? step : latency;
  }
  // Parameters, with the limit on the file.
  int64_t most_total() const { return std::min(total, (file - Cost::kFileHeader) / 4); }
};

// A candidate with its cost and estimated quality.
struct Evaluated {
  spec::Candidate candidate;
  Cost cost;
  double score = 0;  // by a proxy, higher is better
};

}  // namespace heed::search

namespace heed {
template <>
struct EnumNames<search::Objective> {
  static constexpr std::pair<search::Objective, const char*> names[] = {
      {search::Objective::kPrompt, "prompt"},
      {search::Objective::kStep, "step"},
      {search::Objective::kFirstToken, "first-token"}};
};
}  // namespace heed
