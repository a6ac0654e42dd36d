#include "heed/cli/completion.h"

#include <cstdio>
#include <sstream>

#include "heed/spec/recipe.h"
#include "heed/spec/space.h"

namespace heed::cli {
namespace {

struct Shell {
  std::string name;
  std::string (*script)();
};

std::string names_of_verbs() {
  std::string all;
  for (const VerbEntry& entry : verbs()) all += (all.empty() ? "" : " ") + entry.name;
  return all;
}

// For `each(entry, flags)`.
template <class Each>
void for_each_verb(Each each) {
  for (const VerbEntry& entry : verbs()) {
    const auto verb = entry.make();
    std::string threads;
    each(entry, flags_of(entry, *verb, threads));
  }
}

std::string flags_as_words(const Flags& flags) {
  std::string all;
  for (const Argument& argument : flags.arguments()) {
    if (!argument.positional) all += argument.dashed() + " ";
  }
  return all + "--help";
}

// What the arguments of a verb may name besides files: "recipe", "space" or nothing.
std::string names_of(const Flags& flags) {
  for (const Argument& argument : flags.arguments()) {
    if (argument.positional && (argument.name == "recipe" || argument.name == "space")) return argument.name;
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash() {
  std::ostringstream out;
  out << "# For bash: source <(heed completion bash)\n"
      << "_heed() {\n"
      << "  local word=${COMP_WORDS[COMP_CWORD]} flags='' names=''\n"
      << "  COMPREPLY=()\n"
      << "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      << "    mapfile -t COMPREPLY < <(compgen -W '" << names_of_verbs()
      << " --help --version' -- \"$word\")\n"
      << "    return\n"
      << "  fi\n"
      << "  case ${COMP_WORDS[1]} in\n";
  for_each_verb([&](const VerbEntry& entry, const Flags& flags) {
    out << "    " << entry.name << ") flags='" << flags_as_words(flags) << "' names='" << names_of(flags)
        << "' ;;\n";
  });
  out << "  esac\n"
      << "  if [[ $word == -* ]]; then\n"
      << "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\")\n"
      << "    return\n"
      << "  fi\n"
      << "  if [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$names\" ]; then\n"
      << "    mapfile -t COMPREPLY < <(compgen -W \"$(heed completion \"$names\" 2>/dev/null)\" -- "
         "\"$word\")\n"
      << "  fi\n"
      << "  local files\n"
      << "  mapfile -t files < <(compgen -f -- \"$word\")\n"
      << "  COMPREPLY+=(\"${files[@]}\")\n"
      << "}\n"
      << "complete -o filenames -F _heed heed\n";
  return out.str();
}

std::string zsh() {
  std::ostringstream out;
  out << "#compdef heed\n# For zsh: save as _heed in a folder of $fpath\n"
      << "_heed_names() {\n"
      << "  _alternative \"names:name:($(heed completion $1 2>/dev/null))\" files:file:_files\n"
      << "}\n"
      << "_heed() {\n  local -a verbs=(";
  for (const VerbEntry& entry : verbs()) out << "\n    " << quoted(entry.name + ":" + entry.summary);
  out << "\n  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n  case "
         "${words[2]} in\n";
  for_each_verb([&](const VerbEntry& entry, const Flags& flags) {
    out << "    " << entry.name << ") _arguments -s";
    for (const Argument& argument : flags.arguments()) {
      if (argument.positional) continue;
      std::string meaning;
      for (const char c : argument.meaning) meaning += c == '[' || c == ']' || c == ':' ? ' ' : c;
      out << " \\\n      "
          << quoted(argument.dashed() + "[" + meaning + "]" +
                    (argument.kind.empty() ? "" : ":" + argument.kind + ":_files"));
    }
    const std::string names = names_of(flags);
    out << " '*:file:" << (names.empty() ? "_files" : " _heed_names ") << names << "' ;;\n";
  });
  out << "  esac\n}\n_heed \"$@\"\n";
  return out.str();
}

std::string fish() {
  std::ostringstream out;
  out << "# For fish: save as ~/.config/fish/completions/heed.fish\n"
      << "complete -c heed -n __fish_use_subcommand -f\n";
  for_each_verb([&](const VerbEntry& entry, const Flags& flags) {
    out << "complete -c heed -n __fish_use_subcommand -a " << entry.name << " -d " << quoted(entry.summary)
        << "\n";
    const std::string names = names_of(flags), after = "'__fish_seen_subcommand_from " + entry.name + "'";
    if (!names.empty())
      out << "complete -c heed -n " << after << " -a '(heed completion " << names << " 2>/dev/null)'\n";
    for (const Argument& argument : flags.arguments()) {
      if (argument.positional) continue;
      out << "complete -c heed -n " << after << " " << (argument.name.size() == 1 ? "-s " : "-l ")
          << argument.name;
      if (argument.letter) out << " -s " << argument.letter;
      out << (argument.kind.empty() ? "" : " -r") << " -d " << quoted(argument.meaning) << "\n";
    }
  });
  return out.str();
}

std::string lines(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += name + "\n";
  return all;
}

// The list of shells, and of names that a script asks for.
const Registry<Shell>& shells() {
  static const Registry<Shell> list("shell", {{"bash", bash},
                                              {"fish", fish},
                                              {"zsh", zsh},
                                              {"recipe", [] { return lines(spec::recipe_names()); }},
                                              {"space", [] { return lines(spec::space_names()); }}});
  return list;
}

class Completion : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("shell", shell_,
                     "bash, fish or zsh (recipe and space list the names that these scripts complete)", true);
  }

  bool computes() const override { return false; }  // packages are built anywhere

  void run() override {
    const std::string script = shells().find(shell_).script();
    std::fwrite(script.data(), 1, script.size(), stdout);
  }

 private:
  std::string shell_;
};

}  // namespace

VerbEntry completion_verb() {
  return entry<Completion>(
      "completion", "Writes a shell completion script.",
      {"source <(heed completion bash)", "heed completion fish > ~/.config/fish/completions/heed.fish"});
}

}  // namespace heed::cli
