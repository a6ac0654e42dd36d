// The settings of all strategies as flags of `heed search`, made from their entries.
#pragma once

#include "heed/cli/settings_flags.h"

namespace heed::cli {

class StrategyFlags {
 public:
  // Each setting once; its meaning begins with the strategies that have it.
  void declare(Flags& flags);
  // The settings of this strategy that were given. Throws if one of another strategy was.
  Json settings_of(const std::string& strategy) const;

 private:
  FieldFlags flags_;
};

}  // namespace heed::cli
