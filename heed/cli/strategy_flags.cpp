#include "heed/cli/strategy_flags.h"

#include "heed/search/strategies/strategies.h"

namespace heed::cli {
namespace {

using search::strategies, search::StrategyEntry;

bool has(const StrategyEntry& strategy, const std::string& setting) {
  return std::ranges::find(strategy.settings, setting, &DescribedField::name) != strategy.settings.end();
}

// "evolution, random": the strategies that have this setting.
std::string owners_of(const std::string& setting) {
  std::string owners;
  for (const StrategyEntry& entry : strategies()) {
    if (has(entry, setting)) owners += (owners.empty() ? "" : ", ") + entry.name;
  }
  return owners;
}

}  // namespace

void StrategyFlags::declare(Flags& flags) {
  std::vector<DescribedField> fields;
  for (const StrategyEntry& entry : strategies()) {
    for (const DescribedField& field : entry.settings) {
      if (std::ranges::find(fields, field.name, &DescribedField::name) == fields.end())
        fields.push_back({field.name, field.fallback, owners_of(field.name) + ": " + field.meaning});
    }
  }
  flags_.declare(flags, fields);
}

Json StrategyFlags::settings_of(const std::string& strategy) const {
  const StrategyEntry& entry = strategies().find(strategy);
  for (const std::string& name : flags_.given()) {
    if (!has(entry, name))
      throw usage_error("search: --", flag_name(name), " belongs to --strategy ", owners_of(name),
                        "; this is ", strategy);
  }
  return flags_.over(entry.resolve(Json::object()), "search");
}

}  // namespace heed::cli
