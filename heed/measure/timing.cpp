#include "heed/measure/timing.h"

#include <algorithm>
#include <cmath>

#include "heed/base/clock.h"
#include "heed/kernels/gemm.h"
#include "heed/tensor/buffer.h"

namespace heed::measure {
namespace {

// Rounds further apart than this were disturbed; closer ones differ by chance.
constexpr double kAgreement = 0.1;

// Rounds during which the yardstick was near its fastest, scaled to that.
std::vector<Timing> undisturbed(const std::vector<Timing>& rounds) {
  double fastest = INFINITY;
  for (const Timing& round : rounds) fastest = std::min(fastest, round.yardstick);
  std::vector<Timing> quiet;
  for (const Timing& round : rounds) {
    if (round.yardstick <= (1 + kDisturbed) * fastest) quiet.push_back(scaled(round, fastest));
  }
  return quiet;
}

}  // namespace

Timing scaled(Timing timing, double reference) {
  if (!(timing.yardstick > 0) || !(reference > 0)) return timing;
  const double factor = reference / timing.yardstick;
  timing.median *= factor, timing.low *= factor, timing.high *= factor;
  timing.yardstick = reference;
  return timing;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

Timing summarise(const std::vector<double>& seconds) {
  return {percentile(seconds, 0.5), percentile(seconds, 0.1), percentile(seconds, 0.9),
          static_cast<int>(seconds.size())};
}

Timing combine(std::vector<Timing> rounds, double reference) {
  rounds = undisturbed(rounds);
  if (rounds.empty()) return {};
  std::sort(rounds.begin(), rounds.end(), [](const auto& a, const auto& b) { return a.median < b.median; });
  const size_t middle = rounds.size() / 2;
  Timing all = rounds[middle];
  if (rounds.size() % 2 == 0) all.median = (rounds[middle - 1].median + rounds[middle].median) / 2;
  all.runs = 0;
  std::vector<double> tails;
  double slowest = all.median;
  for (const Timing& round : rounds) {
    if (round.median <= (1 + kAgreement) * all.median) slowest = std::max(slowest, round.median);
    tails.push_back(round.tail);
    all.low = std::min(all.low, round.low);
    all.high = std::max(all.high, round.high);
    all.runs += round.runs;
  }
  all.tail = percentile(tails, 0.5) * slowest / all.median;
  return scaled(all, reference);
}

bool settled(const std::vector<Timing>& rounds) {
  if (rounds.size() < kLeastRounds || rounds.size() >= kMostRounds) return rounds.size() >= kMostRounds;
  const std::vector<Timing> quiet = undisturbed(rounds);
  double fastest = INFINITY;
  for (const Timing& round : quiet) fastest = std::min(fastest, round.median);
  return quiet.size() > 1 && combine(rounds).median <= (1 + kAgreement) * fastest;
}

std::vector<Timing> time_interleaved(size_t things,
                                     const std::function<Timing(size_t which, int64_t round)>& time_one,
                                     const std::function<void(size_t done, size_t all)>& progress,
                                     double reference) {
  std::vector<std::vector<Timing>> rounds(things);
  size_t done = 0;
  for (size_t round = 0; round < kMostRounds; ++round) {
    std::vector<size_t> left;
    for (size_t i = 0; i < things; ++i) {
      if (!settled(rounds[i])) left.push_back(i);
    }
    const size_t all = std::max(kLeastRounds * things, done + left.size());
    for (const size_t i : left) {
      rounds[i].push_back(time_one(i, static_cast<int64_t>(round)));
      progress(++done, all);
    }
  }
  std::vector<Timing> timings;
  for (auto& of_one : rounds) timings.push_back(combine(std::move(of_one), reference));
  return timings;
}

Timing time(const std::function<void()>& body, double budget, int least) {
  body();
  std::vector<double> seconds;
  const double start = now_seconds();
  while (static_cast<int>(seconds.size()) < least || now_seconds() - start < budget) {
    const double begin = now_seconds();
    body();
    seconds.push_back(now_seconds() - begin);
  }
  return summarise(seconds);
}

double peak_flops_now() {
  constexpr int64_t n = 1024;
  kernels::require_product_memory();
  const kernels::ProductCheck products;
  const Buffer memory(3 * 4 * n * n);
  auto* a = reinterpret_cast<float*>(memory.data());
  std::fill(a, a + 2 * n * n, 1.f);
  double best = 1e9;
  for (int i = 0; i < 25; ++i) {
    const double begin = now_seconds();
    kernels::gemm(
        {.m = n, .n = n, .k = n, .a = a, .lda = n, .b = a + n * n, .ldb = n, .c = a + 2 * n * n, .ldc = n});
    best = std::min(best, now_seconds() - begin);
    products.require_success();
  }
  return 2.0 * n * n * n / best;
}

double peak_flops() {
  static const double peak = peak_flops_now();
  return peak;
}

double training_seconds(double flops, double peak) { return flops / (0.65 * peak); }

}  // namespace heed::measure
