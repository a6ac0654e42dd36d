// How a space is searched. A strategy only proposes and observes; costs, limits, records and resuming belong
// to the driver. A new strategy is one file and one line in strategies.cpp; its entry states its requirements
// and settings.
#pragma once

#include <functional>
#include <memory>

#include "heed/base/described_fields.h"
#include "heed/base/registry.h"
#include "heed/search/front.h"

namespace heed::search {

// Which sums over the layers a score rises with.
enum class Gains { kDecoder, kWorth };

// The space to search, and what a strategy may ask about it.
struct SearchProblem {
  const spec::Space& space;
  Limits limits;
  Costs& costs;
  // Called now and then with the progress of a long proposal, from 0 to 1; may throw to end it.
  std::function<void(double share)> tick;
  // The score of a model with this frame and cost. Where the frame is the same it rises with what `gains`
  // names, and never rises with latency.
  std::function<double(const spec::Frame&, const Cost&)> score;
  // Inside the limits and the space's window of parameters.
  std::function<bool(const spec::Candidate&)> admits;
  Gains gains = Gains::kDecoder;
  Objective objective = Objective::kPrompt;
  // Layers that may be chosen; all if empty.
  std::function<bool(int64_t width, const spec::Layer&)> allows = {};
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Candidates to evaluate next; none when the search is over.
  virtual std::vector<spec::Candidate> propose() = 0;
  virtual void observe(std::span<const Evaluated> evaluated) = 0;
  // How many candidates it proposes in all, if nothing keeps it from it; 0 if that is not known before.
  virtual int64_t most() const { return 0; }
};

struct StrategyEntry {
  std::string name;
  std::string meaning;
  std::vector<DescribedField> settings;
  // These settings, completed with defaults. Throws if they are invalid.
  Json (*resolve)(const Json& given);
  std::unique_ptr<Strategy> (*make)(const SearchProblem& problem, const Json& settings);

  bool needs_counted_score = false;  // one that follows from sizes alone (Proxy::of_counts)
  bool needs_profile = false;        // of the device, even if every candidate is timed as a whole
  bool is_exhaustive = false;        // what it does not find does not exist
};
const Registry<StrategyEntry>& strategies();

// The entry of a strategy with its own settings, which `validate` checks.
template <class Made, class Settings>
StrategyEntry strategy_entry(const char* name, const char* meaning) {
  return {name, meaning, described_fields<Settings>(),
          [](const Json& given) {
            const auto settings = from_json<Settings>(given, "search");
            validate(settings);
            return to_json(settings);
          },
          [](const SearchProblem& problem, const Json& settings) -> std::unique_ptr<Strategy> {
            return std::make_unique<Made>(problem, from_json<Settings>(settings, "search"));
          }};
}

// Throws if a setting is not positive.
void check_positive(const char* setting, int64_t value);

}  // namespace heed::search
