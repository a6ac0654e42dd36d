// The program: finds the verb, reads its flags, turns exceptions into exit codes. The only file that parses
// with CLI11.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "heed/base/fields.h"
#include "heed/base/system_error.h"
#include "heed/base/threads.h"
#include "heed/cli/help.h"
#include "heed/cli/standard_streams.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/version.h"
#include "heed/kernels/isa.h"

namespace heed::cli {
namespace {

void add(CLI::App& app, const Argument& argument) {
  std::string names = argument.positional ? argument.name : argument.dashed();
  if (argument.letter) names = std::string("-") + argument.letter + "," + names;
  if (argument.kind.empty()) {
    app.add_flag_function(names, [&argument](int64_t) { argument.take({}); });
    return;
  }
  CLI::Option* option = argument.several
                            ? app.add_option_function<std::vector<std::string>>(names, argument.take)
                            : app.add_option_function<std::string>(
                                  names, [&argument](const std::string& word) { argument.take({word}); });
  option->required(argument.required);
}

// --max_steps is --max-steps.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const size_t end = std::min(word.find('='), word.size());
    if (word.starts_with("--"))
      std::replace(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
    words.push_back(word);
  }
  return words;
}

// What was wrong with the words after `heed VERB`, in our own: CLI11 does not know what was meant.
Error parse_failure(const CLI::ParseError& error, const CLI::App& app, const std::string& verb) {
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    for (const std::string& word : app.remaining()) {
      const bool flag = word.starts_with("-");
      message = text(flag ? "unknown flag '" : "did not expect '", word, "'");
      const std::string guess = flag ? nearest(word.substr(0, word.find('=')), known) : "";
      if (!guess.empty()) message += "; did you mean '" + guess + "'?";
      if (flag) break;
    }
  }
  return usage_error(verb, ": ", message, message.ends_with("?") ? " `" : "; `", "heed ", verb,
                     " --help` tells more");
}

int run(int argc, char** argv) {
  std::vector<std::string> words = words_of(argc, argv);
  if (words.empty()) throw usage_error("give a verb: ", verbs().names(), "; `heed --help` tells more");
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    std::printf("%s", (words.size() > 1 ? verb_help(verbs().find(words[1])) : program_help()).c_str());
    return kDone;
  }
  if (words[0] == "--version") {
    std::printf("%s", version_text().c_str());
    return kDone;
  }
  if (words[0].starts_with("-")) {
    const std::string guess = nearest(words[0], {"--help", "--version"});
    throw usage_error("unknown flag '", words[0], "'", guess.empty() ? "" : "; did you mean '" + guess + "'?",
                      guess.empty() ? "; a verb comes first, and `heed --help` lists them" : "");
  }
  const VerbEntry& entry = verbs().find(words[0]);
  const std::unique_ptr<Verb> verb = entry.make();
  std::string threads;
  const Flags flags = flags_of(entry, *verb, threads);
  CLI::App app;
  for (const Argument& argument : flags.arguments()) add(app, argument);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::CallForHelp&) {
    std::printf("%s", verb_help(entry).c_str());
    return kDone;
  } catch (const CLI::ParseError& error) {
    throw parse_failure(error, app, entry.name);
  }
  verb->threads = threads.empty() ? std::vector<int64_t>{available_threads()}
                                  : parse_list(threads, entry.name + ": --threads");
  for (const int64_t count : verb->threads) {
    if (count < 1 || count > 1024)
      throw usage_error("--threads: ", count, " asked for; give a number from 1 to 1024");
  }
  if (verb->threads.size() > 1 && !verb->sweeps_threads())
    throw usage_error("--threads: ", threads, " asked for; ", entry.name, " takes one number");
  set_thread_count(static_cast<int>(verb->threads.front()));
  if (verb->computes()) kernels::isa();  // says now if this CPU cannot run heed
  verb->run();
  return kDone;
}

}  // namespace
}  // namespace heed::cli

int main(int argc, char** argv) {
  heed::cli::hold_closed_streams();
  heed::keep_idle_threads_quiet(argv);
  try {
    heed::cli::watch_signals();
    const int code = heed::cli::run(argc, argv);
    heed::cli::finish_output();
    return code;
  } catch (const heed::Error& error) {
    std::fprintf(stderr, "heed: %s\n", error.what());
    return error.code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "heed: out of memory; choose a smaller model or batch\n");
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "heed: %s: %s\n", error.path1().c_str(),
                 heed::system_reason(error.code().value()).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heed: %s\n", error.what());
  }
  return heed::kFailed;
}
