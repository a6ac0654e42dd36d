// One forward pass or one training step, over and over: what is compared with other programs.
#pragma once

#include <optional>
#include <string>

#include "heed/model/model.h"

namespace heed::cli {

struct PassRequest {
  std::string name;
  model::Use use;
  bool train = false, recompute = false, profile = false, json = false;
  std::optional<double> dropout;
  std::string optimizer;
  double seconds = 4;
  int64_t least = 5;
};

void bench_pass(const PassRequest& request);

}  // namespace heed::cli
