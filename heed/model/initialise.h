// Random numbers for new weights: the same for any number of threads.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed::model {

void fill_constant(const Tensor& tensor, float value);
// N(0, deviation), from stream `stream` of the seed.
void fill_normal(const Tensor& tensor, double deviation, uint64_t seed, uint32_t stream);

}  // namespace heed::model
