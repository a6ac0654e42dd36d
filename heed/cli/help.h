// What the program says about itself, to be read in a terminal.
#pragma once

#include <string>

#include "heed/cli/verb.h"

namespace heed::cli {

inline constexpr const char* kAbout =
    "heed finds, trains and runs the language model that fits the device it runs on.";

// Exit codes with what they mean, and the variables of the environment that are read: of the whole program.
struct Explained {
  const char* name;
  const char* meaning;
};
extern const std::vector<Explained> kExitCodes, kVariables;
// Sentences on what all verbs have in common.
extern const std::vector<const char*> kCustoms;

std::string program_help();
std::string verb_help(const VerbEntry& entry);
// "heed train [OPTIONS] RECIPE"
std::string synopsis(const VerbEntry& entry, const Flags& flags);
// "RECIPE", as an argument is shown
std::string upper(std::string name);
// "-o, --out PATH"
std::string spelling(const Argument& argument);
// The meaning, with what it is when not given.
std::string explanation(const Argument& argument);

}  // namespace heed::cli
