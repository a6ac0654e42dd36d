#include "heed/search/supernet/schedule.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/spec/arch.h"

namespace heed::search {
namespace {

// Cycles are epochs of the text if at least kLeastEpochs fit into the tuning; otherwise there are kCycles.
constexpr int64_t kLeastEpochs = 5, kCycles = 10;
// Temperatures that single precision can divide by.
constexpr double kColdest = 1e-4, kHottest = 1e6;

}  // namespace

void validate(const SupernetSettings& s) {
  const auto refuse = [](const char* name, const auto& value, const char* rule) {
    throw usage_error("supernet: ", name, " is ", value, "; it must be ", rule);
  };
  if (s.letters.size() < 2)
    throw usage_error("supernet: letters is '", s.letters,
                      "'; a choice needs at least two, such as sfi or sfira");
  if (spec::parse_arch(s.letters) != s.letters)  // throws if one is not a letter
    throw usage_error("supernet: letters is '", s.letters, "'; write them plainly, such as sfi");
  for (size_t i = 0; i < s.letters.size(); ++i) {
    if (s.letters.find(s.letters[i]) != i)
      throw usage_error("supernet: letters is '", s.letters, "'; '", s.letters[i],
                        "' appears twice, each letter may appear once");
  }
  if (s.layers < -1 || s.layers == 0)
    refuse("layers", s.layers, "positive, or -1 for as many as the recipe has blocks");
  if (s.steps < -1 || s.steps == 0)
    refuse("steps", s.steps, "positive, or -1 for as many as the recipe has updates");
  if (s.weights_only < -1) refuse("weights_only", s.weights_only, "0 or more, or -1 for a fifth");
  if (!(s.theta_share > 0 && s.theta_share < 1)) refuse("theta_share", s.theta_share, "between 0 and 1");
  if (s.cycle < -1 || s.cycle == 0 || s.cycle == 1) refuse("cycle", s.cycle, "2 or more, or -1 for an epoch");
  for (const auto& [name, value] : {std::pair{"weight_rate", s.weight_rate}, {"theta_rate", s.theta_rate}}) {
    if (!(value > 0) || !std::isfinite(value)) refuse(name, value, "positive");
  }
  for (const auto& [name, value] : {std::pair{"weight_decay", s.weight_decay},
                                    {"theta_decay", s.theta_decay},
                                    {"alpha", s.alpha},
                                    {"beta", s.beta}}) {
    if (!(value >= 0) || !std::isfinite(value)) refuse(name, value, "0 or more");
  }
  for (const auto& [name, value] :
       {std::pair{"temperature", s.temperature}, {"final_temperature", s.final_temperature}}) {
    if (!(value >= kColdest && value <= kHottest)) refuse(name, value, "from 0.0001 to 1,000,000");
  }
  if (s.anneal == Anneal::kIteration && s.final_temperature > s.temperature)
    refuse("final_temperature", s.final_temperature, "temperature at most: it falls");
  const bool weighs = s.alpha > 0 && (s.beta > 0 || s.latency_term == LatencyTerm::kPower);
  if (s.latency_term != LatencyTerm::kNone && !weighs)
    throw usage_error("supernet: a latency term with alpha ", s.alpha, " and beta ", s.beta,
                      " leaves no loss to minimise; both must be positive");
  if (!(s.epoch_factor > 0 && s.epoch_factor <= 1)) refuse("epoch_factor", s.epoch_factor, "in (0, 1]");
  for (const auto& [name, value] : {std::pair{"unchanged", s.unchanged}, {"least_tuning", s.least_tuning}}) {
    if (!(value >= 0 && value <= 1)) refuse(name, value, "in [0, 1]");
  }
}

SupernetSettings resolved(SupernetSettings s, int64_t layers, int64_t updates, int64_t segments) {
  validate(s);
  if (s.layers < 0) s.layers = layers;
  // The published search tunes for as many iterations as the model is trained, after a quarter as many.
  if (s.steps < 0) {
    if (s.weights_only < 0) s.weights_only = updates / 4;
    s.steps = updates + s.weights_only;
  }
  if (s.weights_only < 0) s.weights_only = s.steps / 5;
  const int64_t tuning = s.steps - s.weights_only;
  if (s.cycle < 0)
    s.cycle = std::max<int64_t>(2, segments <= tuning / kLeastEpochs ? segments : tuning / kCycles);
  return s;
}

SupernetSchedule::SupernetSchedule(const SupernetSettings& settings)
    : settings_(settings),
      first_theta_(settings.cycle - std::clamp<int64_t>(std::llround(settings.theta_share *
                                                                     static_cast<double>(settings.cycle)),
                                                        1, settings.cycle - 1)) {
  if (settings.weights_only >= settings.steps)
    throw usage_error(
        "supernet: logits do not change for the first ", settings.weights_only, " of ", settings.steps,
        " iterations, so nothing would be chosen; give a smaller --weights-only or more --steps");
  if (theta_updates() == 0)
    throw usage_error("supernet: in ", settings.steps,
                      " iterations logits would never be updated: a cycle has ", settings.cycle,
                      ", of which the last ", settings.cycle - first_theta_,
                      " are theirs; give more --steps or a smaller --cycle");
  if (const double last = at(settings.steps - 1).temperature;
      settings.anneal == Anneal::kEpoch && last < kColdest)
    throw usage_error("supernet: annealing by epoch would end at a temperature of ", last,
                      "; give a larger --epoch-factor or --cycle, or anneal by iteration");
}

int64_t SupernetSchedule::thetas_before(int64_t step) const {
  const auto from_start = [&](int64_t n) {
    return n / settings_.cycle * (settings_.cycle - first_theta_) +
           std::max<int64_t>(0, n % settings_.cycle - first_theta_);
  };
  return step <= settings_.weights_only ? 0 : from_start(step) - from_start(settings_.weights_only);
}

Turn SupernetSchedule::at(int64_t step) const {
  const int64_t tuned = step - settings_.weights_only;
  const bool theta = tuned >= 0 && step % settings_.cycle >= first_theta_;
  const int64_t thetas = thetas_before(step);
  double temperature = settings_.temperature;
  if (tuned > 0 && settings_.anneal == Anneal::kEpoch) {
    temperature *= std::pow(settings_.epoch_factor, static_cast<double>(tuned / settings_.cycle));
  } else if (tuned > 0) {
    const auto last = static_cast<double>(std::max<int64_t>(1, settings_.steps - settings_.weights_only - 1));
    temperature *=
        std::pow(settings_.final_temperature / settings_.temperature, static_cast<double>(tuned) / last);
  }
  return {theta, 1 + (theta ? thetas : step - thetas), temperature};
}

bool SupernetSchedule::converged(int64_t changed, int64_t step) const {
  const auto tuned = static_cast<double>(step - settings_.weights_only),
             all = static_cast<double>(settings_.steps - settings_.weights_only);
  return settings_.unchanged > 0 && tuned >= settings_.least_tuning * all && tuned > 0 &&
         static_cast<double>(step - std::max(changed, settings_.weights_only)) >= settings_.unchanged * tuned;
}

}  // namespace heed::search
