// The runs that a page shows, as flags name them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/cli/flags.h"

namespace heed::cli {

class ShownRuns {
 public:
  void declare(Flags& flags);
  // As they were named, each once. A search or a worth run gets the device's profile beside it: the one that
  // is named, or the user's if there is one. Throws if one does not exist; `verb` starts the message.
  std::vector<std::filesystem::path> paths(const std::string& verb) const;

 private:
  std::vector<std::string> named_;
  std::string profile_;
};

}  // namespace heed::cli
