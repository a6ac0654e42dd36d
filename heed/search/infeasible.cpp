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
  const std::string times =
      e.cost.latency > 0 ? text(format_seconds(e.cost.latency), ", ", format_seconds(e.cost.step),
                                " a step, ", format_seconds(e.cost.first_token()), " to the first token, ")
                         : "";
  return text(space.key_of(e.candidate), " (", times, format_bytes(e.cost.memory()), ", ",
              format_count(static_cast<double>(e.cost.total)), " parameters)");
}

template <class Value>
const Evaluated& least(const std::vector<Evaluated>& models, const Value& value) {
  return *std::min_element(models.begin(), models.end(),
                           [&](const auto& a, const auto& b) { return value(a.cost) < value(b.cost); });
}

Error too_tight(const spec::Space& space, const LimitKind& limit, const Evaluated& nearest) {
  return infeasible_error("search: no model of ", space.name, " fits; the limit on ", limit.name,
                          " is too tight. The nearest: ", describe(nearest, space));
}

Error all_too_tight(const spec::Space& space, const Evaluated& smallest) {
  return infeasible_error(
      "search: no model of ", space.name,
      " fits, and none would with any one of the limits lifted; loosen them all. The smallest: ",
      describe(smallest, space));
}

}  // namespace

std::optional<Evaluated> smallest_model(const spec::Space& space, GraphCosts& costs) {
  std::optional<Evaluated> smallest;
  const int64_t depth = *std::ranges::min_element(space.layers);
  for (const spec::Frame& frame : space.frames()) {
    for (const spec::Layer& layer : space.options(frame.width)) {
      // Of the models with one kind of layer, since mixing in others takes more.
      Evaluated model{{frame, std::vector<spec::Layer>(static_cast<size_t>(depth), layer)},
                      costs.GraphCosts::of_frame(frame)};
      const Cost of_layer = costs.GraphCosts::of_layer(frame.width, layer);
      for (int64_t i = 0; i < depth; ++i) model.cost += of_layer;
      if (!smallest || model.cost.memory() < smallest->cost.memory()) smallest = std::move(model);
    }
  }
  return smallest;
}

Error exceeded_by_smallest(const spec::Space& space, const Limits& limits, const Evaluated& smallest) {
  std::vector<const LimitKind*> exceeded;
  for (const LimitKind& limit : kLimits) {
    Limits alone = limits;
    for (const LimitKind& other : kLimits) {
      if (&other != &limit) other.lift(alone);
    }
    if (!alone.admit(smallest.cost)) exceeded.push_back(&limit);
  }
  return exceeded.size() == 1 ? too_tight(space, *exceeded[0], smallest) : all_too_tight(space, smallest);
}

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
    if (!found.empty()) return too_tight(space, limit, least(found, limit.cost));
  }
  SearchProblem unlimited = problem;
  unlimited.limits = {};
  const std::vector<Evaluated> found = exact_front(unlimited);
  if (found.empty())
    return infeasible_error("search: no model of ", space.name,
                            " has as many parameters as its [limits] ask for");
  return all_too_tight(space, least(found, [](const Cost& c) { return c.memory(); }));
}

}  // namespace heed::search
