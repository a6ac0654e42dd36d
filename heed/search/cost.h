// The cost of a model: the sum of the costs of its layers and of the frame around them.
#pragma once

#include <algorithm>
#include <cmath>

#include "heed/spec/space.h"

namespace heed::search {

struct Cost {
  double latency = 0;    // seconds for a segment
  int64_t decoder = 0;   // parameters without embedding and output
  int64_t total = 0;     // all parameters
  int64_t resident = 0;  // bytes of weights and state
  int64_t arena = 0;     // bytes of a run; layers reuse the same memory

  int64_t memory() const { return resident + arena; }
  Cost& operator+=(const Cost& part) {
    latency += part.latency;
    decoder += part.decoder;
    total += part.total;
    resident += part.resident;
    arena = std::max(arena, part.arena);
    return *this;
  }
  bool operator==(const Cost&) const = default;
};

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
  double latency = INFINITY;   // seconds
  int64_t memory = INT64_MAX;  // bytes, planned
  int64_t total = INT64_MAX;   // parameters
  bool admit(const Cost& cost) const {
    return cost.latency <= latency && cost.memory() <= memory && cost.total <= total;
  }
};

// A candidate with its cost and estimated quality.
struct Evaluated {
  spec::Candidate candidate;
  Cost cost;
  double score = 0;  // by a proxy, higher is better
};

}  // namespace heed::search
