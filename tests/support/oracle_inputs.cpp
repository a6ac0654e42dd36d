#include "tests/support/oracle_inputs.h"

#include "heed/base/error.h"

namespace heed::test {

OracleInput absent() {
  OracleInput input;
  input.absent = true;
  return input;
}

OracleInput same_as(int other) {
  OracleInput input;
  input.same_as = other;
  return input;
}

OracleInput numbers(Shape shape, std::vector<float> values) {
  HEED_ASSERT(static_cast<int64_t>(values.size()) == shape.elements());
  OracleInput input;
  input.type = {shape, DType::kF32};
  input.floats = std::move(values);
  input.gradient = true;
  return input;
}

OracleInput normal(Shape shape, Rng& rng, double scale) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(scale * rng.normal());
  return numbers(shape, std::move(values));
}

OracleInput uniform(Shape shape, Rng& rng, double low, double high) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(rng.uniform(low, high));
  return numbers(shape, std::move(values));
}

OracleInput integers(Shape shape, std::vector<int32_t> values) {
  HEED_ASSERT(static_cast<int64_t>(values.size()) == shape.elements());
  OracleInput input;
  input.type = {shape, DType::kI32};
  input.ints = std::move(values);
  return input;
}

OracleInput below(Shape shape, Rng& rng, int64_t limit) {
  std::vector<int32_t> values(static_cast<size_t>(shape.elements()));
  for (int32_t& value : values) value = static_cast<int32_t>(rng.below(limit));
  return integers(shape, std::move(values));
}

OracleInput random_state(uint64_t seed, uint64_t step) {
  const auto half = [](uint64_t word) { return static_cast<int32_t>(static_cast<uint32_t>(word)); };
  return integers({4}, {half(seed), half(seed >> 32), half(step), half(step >> 32)});
}

OracleInput fixed(OracleInput input) {
  input.gradient = false;
  return input;
}

OracleInput in_role(OracleInput input, graph::Role role) {
  input.role = role;
  return input;
}

}  // namespace heed::test
