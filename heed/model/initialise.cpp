#include "heed/model/initialise.h"

#include <algorithm>
#include <cmath>

#include "heed/base/philox.h"
#include "heed/base/threads.h"

namespace heed::model {
namespace {

// make(u0, u1) -> two numbers from two uniform ones in (0, 1). Elements 4i .. 4i+3 come from counter i.
template <class Make>
void fill(const Tensor& tensor, uint64_t seed, uint32_t stream, const Make& make) {
  const auto out = tensor.floats();
  const int64_t blocks = (static_cast<int64_t>(out.size()) + 3) / 4;
  parallel_range(blocks, threads_for(100.0 * static_cast<double>(blocks)), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto words =
          philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), stream, 0x1417},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
      float four[4];
      for (int pair = 0; pair < 4; pair += 2)
        make((words[pair] + 0.5) * 0x1p-32, (words[pair + 1] + 0.5) * 0x1p-32, four + pair);
      for (int64_t i = 0; i < 4 && 4 * block + i < static_cast<int64_t>(out.size()); ++i)
        out[static_cast<size_t>(4 * block + i)] = four[i];
    }
  });
}

}  // namespace

void fill_constant(const Tensor& tensor, float value) {
  std::fill(tensor.floats().begin(), tensor.floats().end(), value);
}

void fill_normal(const Tensor& tensor, double deviation, uint64_t seed, uint32_t stream) {
  fill(tensor, seed, stream, [&](double u0, double u1, float* two) {  // Box and Muller
    const double radius = deviation * std::sqrt(-2 * std::log(u0)), angle = 6.283185307179586 * u1;
    two[0] = static_cast<float>(radius * std::cos(angle));
    two[1] = static_cast<float>(radius * std::sin(angle));
  });
}

}  // namespace heed::model
