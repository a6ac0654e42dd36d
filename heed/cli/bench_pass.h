// One forward pass or one training step, repeated: the measurement that is compared with other programs.
#pragma once

#include <optional>
#include <string>

#include "heed/model/model.h"

namespace heed::cli {

struct PassRequest {
  std::string name;
  int64_t sequences = 1, length = 1, memory = 0;
  bool train = false, recompute = false, profile = false, json = false;
  std::optional<double> dropout;
  std::string optimizer;
  double seconds = 4;
  int64_t least = 5;
};

void bench_pass(const PassRequest& request);

}  // namespace heed::cli
