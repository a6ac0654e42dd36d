#include "heed/search/infeasible.h"

#include "heed/base/units.h"
#include "heed/search/strategies/exact.h"

namespace heed::search {
namespace {

struct LimitKind {
  const char* name;
  void (*lift)(Limits&);
  double (*cost)(const Cost&);
};
const LimitKind kLimits[] = {
    {"latency", [](Limits& l) { l.latency = INFINITY; }, [](const Cost& c) { return c.latency; }},
    {"the latency of a step", [](Limits& l) { l.step = INFINITY; }, [](const Cost& c) { return c.step; }},
    {"the time to the first token", [](Limits& l) { l.first_token = INFINITY; },
     [](const Cost& c) { return c.first_token(); }},
    {"memory", [](Limits& l) { l.memory = INT64_MAX; },
     [](const Cost& c) { return static_cast<double>(c.memory()); }},
    {"parameters", [](Limits& l) { l.total = INT64_MAX; },
     [](const Cost& c) { return static_cast<double>(c.total); }},
    {"file size", [](Limits& l) { l.file = INT64_MAX; },
     [](const Cost& c) { return static_cast<double>(c.file()); }}};

std::string describe(const Evaluated& e, const spec::Space& space) {
  return text(space.key_of(e.candidate), " (", format_seconds(e.cost.latency), ", ",
              format_seconds(e.cost.step), " a step, ", format_seconds(e.cost.first_token()),
              " to the first token, ", format_bytes(e.cost.memory()), ", ",
              format_count(static_cast<double>(e.cost.total)), " parameters)");
}

template <class Value>
const Evaluated& least(const std::vector<Evaluated>& models, const Value& value) {
  return *std::min_element(models.begin(), models.end(),
                           [&](const auto& a, const auto& b) { return value(a.cost) < value(b.cost); });
}

}  // namespace

Error explain_infeasible(const SearchProblem& problem, const StrategyEntry& strategy) {
  const spec::Space& space = problem.space;
  if (!strategy.is_exhaustive) {
    const std::vector<Evaluated> fitting = exact_front(problem);
    if (!fitting.empty())
      return infeasible_error("search: ", strategy.name, " found no model of ", space.name,
                              " that fits, but some exist: ", describe(fitting.front(), space),
                              "; use --strategy ", exact_strategy().name, ", or loosen the limits");
  }
  for (const LimitKind& limit : kLimits) {
    SearchProblem lifted = problem;
    limit.lift(lifted.limits);
    const std::vector<Evaluated> found = exact_front(lifted);
    if (!found.empty())
      return infeasible_error("search: no model of ", space.name, " fits; the limit on ", limit.name,
                              " is in the way. The nearest: ", describe(least(found, limit.cost), space));
  }
  SearchProblem unlimited = problem;
  unlimited.limits = {};
  const std::vector<Evaluated> found = exact_front(unlimited);
  if (found.empty())
    return infeasible_error("search: no model of ", space.name,
                            " has as many parameters as its [limits] ask for");
  return infeasible_error(
      "search: no model of ", space.name,
      " fits, and none would with any one of the limits lifted; loosen them all. The smallest: ",
      describe(least(found, [](const Cost& c) { return c.memory(); }), space));
}

}  // namespace heed::search
