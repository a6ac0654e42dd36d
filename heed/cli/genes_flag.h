// --genes narrows the space that a verb is given, without a file for it.
#pragma once

#include "heed/cli/flags.h"

namespace heed::cli {

inline void declare_genes(Flags& flags, std::string& genes) {
  flags.option(
      "genes", genes,
      "override values of the space, in the syntax of its file: 'vocabulary = 256, width = [128, 256]'",
      "TOML");
}

}  // namespace heed::cli
