// The inputs of oracle cases (oracle.h): random or given numbers, absent ones, values used twice.
#pragma once

#include <vector>

#include "heed/base/philox.h"
#include "heed/graph/graph.h"

namespace heed::test {

struct OracleInput {
  TensorType type;
  std::vector<float> floats;  // by type, one of the two
  std::vector<int32_t> ints;
  bool absent = false;    // an optional input that is not given
  int same_as = -1;       // the very value of an earlier input; its gradients add up there
  bool gradient = false;  // whether the gradient of this input is compared
  graph::Role role = graph::Role::kInput;
};

OracleInput absent();
OracleInput same_as(int input);
// Numbers are compared with their gradients unless fixed().
OracleInput numbers(Shape shape, std::vector<float> values);
OracleInput normal(Shape shape, Rng& rng, double scale = 1);  // scale times a standard normal
OracleInput uniform(Shape shape, Rng& rng, double low, double high);
OracleInput integers(Shape shape, std::vector<int32_t> values);
OracleInput below(Shape shape, Rng& rng, int64_t limit);   // integers in [0, limit)
OracleInput random_state(uint64_t seed, uint64_t step);    // the `rng` input of the ops with dropout
OracleInput fixed(OracleInput input);                      // the gradient is not asked for
OracleInput in_role(OracleInput input, graph::Role role);  // parameter or state, for ops that write in place

}  // namespace heed::test
