#include "heed/cli/help.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace heed::cli {
namespace {

constexpr size_t kColumns = 100;

// "  name   meaning", the meaning wrapped from a column on.
void entry(std::ostream& out, const std::string& name, const std::string& meaning, size_t column = 30) {
  std::string line = "  " + name;
  if (line.size() + 2 > column) {
    out << line << '\n';
    line.clear();
  }
  line.resize(column, ' ');
  std::istringstream words(meaning);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && line.size() + 1 + word.size() > kColumns) {
      out << line << '\n';
      line = std::string(column, ' ') + word;
    } else {
      line += (first ? "" : " ") + word;
    }
  }
  out << line << '\n';
}

}  // namespace

std::string upper(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

const std::vector<const char*> kCustoms = {
    "Results go to standard output, everything else to standard error.",
    "Counts are written 5000, 300K or 2.5M; sizes 500K, 48MB, 48MiB or 2G; times 20ms, 90s, 5m or 1h.",
    "K, M and G are powers of 1000, and B in counts is 1e9; KiB, MiB and GiB are powers of 1024.",
    "A size without a unit is in bytes, a time in seconds.",
    "Underscores in flags are accepted: --max_steps is --max-steps.",
};

const std::vector<Explained> kExitCodes = {
    {"0", "done"},
    {"1", "failed: a file, the machine or its memory; the message says what to do"},
    {"2", "the command line, or a file written by hand, is wrong"},
    {"3", "nothing fits the limits"},
    {"130",
     "interrupted; train, search, supernet, rank, worth and device save first: rerun the same command to "
     "resume"},
};

const std::vector<Explained> kVariables = {
    {"HEED_PROFILE", "database of this device's profile, instead of one in the user's cache"},
    {"HEED_RECIPES", "folder of recipes, instead of those installed with heed"},
    {"HEED_SPACES", "folder of spaces, instead of those installed with heed"},
    {"HEED_ISA", "v3 or v4: run the kernels for AVX2 or for AVX-512, not for the best the processor has"},
    {"NO_COLOR", "output is never coloured; TERM=dumb also stops lines from being rewritten"},
};

std::string spelling(const Argument& argument) {
  std::string all;
  if (argument.letter) all = std::string("-") + argument.letter + ", ";
  all += argument.dashed();
  return argument.kind.empty() ? all : all + " " + argument.kind;
}

std::string explanation(const Argument& argument) {
  std::string all = argument.meaning;
  for (size_t i = 0; i < argument.aliases.size(); ++i)
    all += (i == 0 ? "; also " : ", ") + dashed(argument.aliases[i]);
  return argument.fallback.empty() ? all : all + " [" + argument.fallback + "]";
}

std::string synopsis(const VerbEntry& verb, const Flags& flags) {
  std::string line = "heed " + verb.name + " [OPTIONS]";
  for (const Argument& argument : flags.arguments()) {
    if (!argument.positional) continue;
    const std::string name = upper(argument.name) + (argument.several ? "..." : "");
    line += argument.required ? " " + name : " [" + name + "]";
  }
  return line;
}

std::string program_help() {
  std::ostringstream out;
  out << kAbout << "\n\nUsage: heed VERB [OPTIONS] ...\n\nVerbs:\n";
  for (const VerbEntry& verb : verbs()) entry(out, verb.name, verb.summary, 14);
  out << "\nOptions:\n";
  entry(out, "-h, --help", "show the options of the program or of a verb", 14);
  entry(out, "--version", "show the version of heed and of its libraries", 14);
  out << "\n";
  for (const char* sentence : kCustoms) out << sentence << "\n";
  out << "\nExit codes:\n";
  for (const Explained& code : kExitCodes) entry(out, code.name, code.meaning, 14);
  out << "\nSee `heed VERB --help` for more, with examples.\n";
  return out.str();
}

std::string verb_help(const VerbEntry& verb) {
  const auto made = verb.make();
  std::string threads;
  const Flags flags = flags_of(verb, *made, threads);
  std::ostringstream out;
  out << verb.summary << "\n\nUsage: " << synopsis(verb, flags) << "\n";
  bool first = true;
  for (const Argument& argument : flags.arguments()) {
    if (!argument.positional) continue;
    if (first) out << "\nArguments:\n";
    first = false;
    entry(out, upper(argument.name), explanation(argument));
  }
  out << "\nOptions:\n";
  for (const Argument& argument : flags.arguments()) {
    if (!argument.positional) entry(out, spelling(argument), explanation(argument));
  }
  entry(out, "-h, --help", "show this help");
  out << (verb.examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n");
  for (const std::string& example : verb.examples) out << "  " << example << '\n';
  return out.str();
}

}  // namespace heed::cli
