// Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011): a random function
// of a counter. The n-th number of a stream does not depend on earlier ones, so a mask is the same for any
// number of threads, and the backward pass recomputes it instead of storing it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace heed {

inline constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53, kPhiloxMultiplier1 = 0xCD9E8D57;
inline constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9, kPhiloxWeyl1 = 0xBB67AE85;
inline constexpr int kPhiloxRounds = 10;

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t low = static_cast<uint64_t>(kPhiloxMultiplier0) * counter[0];
    const uint64_t high = static_cast<uint64_t>(kPhiloxMultiplier1) * counter[2];
    counter = {static_cast<uint32_t>(high >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(high),
               static_cast<uint32_t>(low >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(low)};
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  return counter;
}

// A sequence of numbers for initialisation and tests: element n of stream s of a seed.
class Rng {
 public:
  explicit Rng(uint64_t seed, uint32_t stream = 0)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, stream_(stream) {}

  uint32_t next() {
    if (used_ == 4) {
      block_ = philox({static_cast<uint32_t>(count_), static_cast<uint32_t>(count_ >> 32), stream_, 0}, key_);
      ++count_;
      used_ = 0;
    }
    return block_[used_++];
  }
  // Uniform in (0, 1): never 0, so that its logarithm is finite.
  double uniform() { return (next() + 0.5) * 0x1p-32; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  int64_t below(int64_t limit) { return static_cast<int64_t>(uniform() * static_cast<double>(limit)); }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::array<uint32_t, 2> key_;
  uint32_t stream_;
  uint64_t count_ = 0;
  int used_ = 4;
  std::array<uint32_t, 4> block_{};
};

}  // namespace heed
