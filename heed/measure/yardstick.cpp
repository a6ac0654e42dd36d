#include "heed/measure/yardstick.h"

#include <algorithm>

#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/kernels/gemm.h"

namespace heed::measure {
namespace {

constexpr int64_t kLength = 192;
constexpr int kRuns = 5;
// Rounds are combined, so 20 of each are enough for a 95th percentile.
constexpr int kRunsOfTails = 20, kTailRuns = 100;

double tail(const std::vector<double>& seconds, double share) {
  return std::max(1.0, percentile(seconds, share) / percentile(seconds, 0.5));
}

}  // namespace

spec::ModelSpec plain_model(int64_t pairs, int64_t width, int64_t inner) {
  spec::ModelSpec spec = spec::backbones().find("transformer-xl").settings();
  spec.arch = text("(sf)x", pairs);
  spec.width = width, spec.sizes["heads"] = {4}, spec.sizes["inner"] = {inner};
  spec.embedding.vocabulary = 256;
  return spec;
}

// Of a size that leaves most of the caches to what is being timed.
Yardstick::Yardstick() : model_(plain_model(1, 256, 1024), model::prompt_form(kLength)) {
  for (int i = 0; i < 3; ++i) model_.run();  // to warm up
}

double Yardstick::seconds() {
  const double begin = now_seconds();
  model_.run();
  return now_seconds() - begin;
}

std::vector<size_t> undisturbed(const std::vector<double>& yardstick, size_t least_runs) {
  std::vector<double> around;
  for (size_t i = 0; i + 1 < yardstick.size(); ++i)
    around.push_back(std::max(yardstick[i], yardstick[i + 1]));
  const double least = around.empty() ? 0 : *std::min_element(around.begin(), around.end());
  double most = (1 + kDisturbed) * least;
  if (!around.empty() && least_runs > 0) {
    std::vector<double> sorted = around;
    std::sort(sorted.begin(), sorted.end());
    most = std::max(most, sorted[std::min(least_runs, sorted.size()) - 1]);
  }
  std::vector<size_t> runs;
  for (size_t i = 0; i < around.size(); ++i) {
    if (around[i] <= most) runs.push_back(i);
  }
  return runs;
}

std::vector<Timing> time_sections(Yardstick& yardstick, const std::function<std::vector<double>()>& run,
                                  const Effort& effort) {
  std::vector<double> between = {yardstick.seconds()};
  std::vector<std::vector<double>> runs;
  const double begin = now_seconds();
  const auto goes_on = [&] {
    const auto done = static_cast<int>(runs.size());
    if (done < effort.least) return true;
    if (done >= effort.most) return false;
    return now_seconds() - begin < effort.seconds ||
           undisturbed(between).size() < static_cast<size_t>(effort.least);
  };
  while (goes_on()) {
    runs.push_back(run());
    between.push_back(yardstick.seconds());
  }
  const std::vector<size_t> quiet = undisturbed(between, static_cast<size_t>(effort.least));
  std::vector<double> speed;
  for (const size_t i : quiet) speed.push_back((between[i] + between[i + 1]) / 2);
  std::vector<Timing> timings;
  for (size_t section = 0; section < runs[0].size(); ++section) {
    std::vector<double> seconds, all;
    for (const size_t i : quiet) seconds.push_back(runs[i][section]);
    timings.push_back(summarise(seconds));
    for (const auto& sections : runs) all.push_back(sections[section]);
    if (effort.share > 0.5) timings.back().tail = tail(all, effort.share);
    timings.back().yardstick = percentile(speed, 0.5);
  }
  return timings;
}

double tail_of(Yardstick& yardstick, double share) {
  std::vector<double> seconds;
  for (int i = 0; i < kTailRuns; ++i) seconds.push_back(yardstick.seconds());
  return tail(seconds, share);
}

WholeTiming time_whole(Yardstick& yardstick, const spec::ModelSpec& spec, const Work& work, double share) {
  static const bool warm =
      (kernels::warm_up_gemm(), true);  // the library's own memory does not count as the model's
  (void)warm;
  const int64_t before = resident_bytes();
  TimedModel model(spec, work);
  const auto run = [&] {
    const double begin = now_seconds();
    model.run();
    return std::vector<double>{now_seconds() - begin};
  };
  run();
  const int runs = share > 0.5 ? kRunsOfTails : kRuns;
  const Timing timing = time_sections(yardstick, run, {runs, runs, 0, share})[0];
  return {timing, resident_bytes() - before};
}

}  // namespace heed::measure
