#include "heed/cli/manual.h"

#include <cstdio>
#include <sstream>

#include "heed/cli/help.h"
#include "heed/cli/version.h"

namespace heed::cli {
namespace {

// Escaped for roff: a leading dot or apostrophe, and a backslash, have a meaning there.
std::string roff(const std::string& plain) {
  std::string out = plain.starts_with('.') || plain.starts_with('\'') ? "\\&" : "";
  for (const char c : plain) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

void roff_entry(std::ostream& out, const std::string& name, const std::string& meaning) {
  out << ".TP\n.B " << roff(name) << "\n" << roff(meaning) << "\n";
}

std::string man_page() {
  std::ostringstream out;
  out << ".TH HEED 1 \"\" \"heed " << version() << "\" \"User Commands\"\n"
      << ".SH NAME\nheed \\- find, train and run the language model that fits this device\n"
      << ".SH SYNOPSIS\n.B heed\n.I VERB\n[\\fIOPTIONS\\fR] ...\n"
      << ".SH DESCRIPTION\n"
      << roff(kAbout) << "\n";
  for (const char* sentence : kCustoms) out << roff(sentence) << "\n";
  roff_entry(out, "-h, --help", "show the options of the program or of a verb");
  roff_entry(out, "--version", "show the version of heed and of its libraries");
  for (const VerbEntry& entry : verbs()) {
    const auto verb = entry.make();
    std::string threads;
    const Flags flags = flags_of(entry, *verb, threads);
    out << ".SH HEED " << entry.name << "\n"
        << roff(entry.summary) << "\n.PP\n.B " << roff(synopsis(entry, flags)) << "\n";
    for (const Argument& argument : flags.arguments())
      roff_entry(out, argument.positional ? upper(argument.name) : spelling(argument), explanation(argument));
    out << ".PP\nExamples:\n.nf\n";
    for (const std::string& example : entry.examples) out << "    " << roff(example) << "\n";
    out << ".fi\n";
  }
  out << ".SH ENVIRONMENT\n";
  for (const Explained& variable : kVariables) roff_entry(out, variable.name, variable.meaning);
  out << ".SH EXIT STATUS\n";
  for (const Explained& code : kExitCodes) roff_entry(out, code.name, code.meaning);
  return out.str();
}

std::string markdown(const VerbEntry& entry) {
  std::ostringstream out;
  out << "# heed " << entry.name << "\n\n" << entry.summary << "\n\n";
  for (const std::string& example : entry.examples) out << "    " << example << "\n";
  out << "\n## heed " << entry.name << " --help\n\n```text\n" << verb_help(entry) << "```\n";
  return out.str();
}

std::string markdown_index() {
  std::ostringstream out;
  out << "# The verbs\n\n| verb | what it does |\n|---|---|\n";
  for (const VerbEntry& entry : verbs())
    out << "| [" << entry.name << "](" << entry.name << ".md) | " << entry.summary << " |\n";
  out << "\nAll of them take `--threads` and `--help`.\n";
  for (const char* sentence : kCustoms) out << sentence << "\n";
  out << "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const Explained& code : kExitCodes) out << "| " << code.name << " | " << code.meaning << " |\n";
  out << "\n## Environment\n\n| variable | meaning |\n|---|---|\n";
  for (const Explained& variable : kVariables)
    out << "| `" << variable.name << "` | " << variable.meaning << " |\n";
  return out.str();
}

class ManualVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("verb", verb_, "with --markdown: the page of this verb; without one, the list of verbs",
                     false);
    flags.flag("markdown", markdown_, "a page as in docs/verbs instead of the manual page");
  }

  bool computes() const override { return false; }  // packages are built anywhere

  void run() override {
    if (!verb_.empty() && !markdown_)
      throw usage_error("manual: the manual page is of the whole program; `heed ", verb_,
                        " --help` describes one verb, and so does `heed manual --markdown ", verb_, "`");
    const std::string all = !markdown_      ? man_page()
                            : verb_.empty() ? markdown_index()
                                            : markdown(verbs().find(verb_));
    std::fwrite(all.data(), 1, all.size(), stdout);
  }

 private:
  std::string verb_;
  bool markdown_ = false;
};

}  // namespace

VerbEntry manual_verb() {
  return entry<ManualVerb>("manual", "Writes the manual page, for `man`.",
                           {"heed manual | man -l -", "heed manual --markdown train"});
}

}  // namespace heed::cli
