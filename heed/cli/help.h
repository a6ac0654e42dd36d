// The help of the program, for a terminal.
#pragma once

#include <string>

#include "heed/cli/verb.h"

namespace heed::cli {

inline constexpr const char* kAbout =
    "heed finds, trains and runs the language model that fits the device it runs on.";

// Exit codes with their meaning, and the environment variables that the program reads.
struct Explained {
  const char* name;
  const char* meaning;
};
extern const std::vector<Explained> kExitCodes, kVariables;
// Sentences that apply to all verbs.
extern const std::vector<const char*> kCustoms;

std::string program_help();
std::string verb_help(const VerbEntry& entry);
// "heed train [OPTIONS] RECIPE"
std::string synopsis(const VerbEntry& entry, const Flags& flags);
// "RECIPE", the display name of an argument
std::string upper(std::string name);
// "-o, --out PATH"
std::string spelling(const Argument& argument);
// The meaning, with other names and the default.
std::string explanation(const Argument& argument);

}  // namespace heed::cli
