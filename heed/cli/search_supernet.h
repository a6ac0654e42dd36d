// `heed search --strategy supernet`: a recipe and a text instead of a space.
#pragma once

#include <optional>

#include "heed/cli/settings_flags.h"
#include "heed/search/supernet/settings.h"

namespace heed::cli {

class SupernetSearch {
 public:
  // What it shares with searches of spaces.
  struct Shared {
    std::string recipe, data, out, profile;
    std::optional<int64_t> seed;
    bool json = false;
  };

  void declare(Flags& flags);
  // The first of its own flags that was given; empty if none was.
  std::string first_given() const;
  void run(const Shared& shared);

 private:
  SettingsFlags<search::SupernetSettings> settings_;
  std::optional<int64_t> seeds_;
  std::optional<double> save_seconds_;
  bool dry_run_ = false;
};

}  // namespace heed::cli
