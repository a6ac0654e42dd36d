// The program: finds the verb, reads its flags, turns exceptions into exit codes. The only file that parses
// with CLI11.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "heed/base/system_error.h"
#include "heed/base/threads.h"
#include "heed/cli/help.h"
#include "heed/cli/standard_streams.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/suggestions.h"
#include "heed/cli/version.h"
#include "heed/kernels/isa.h"

namespace heed::cli {
namespace {

// Exit codes of the program; help.cpp explains them to users. No other file knows them.
enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kInfeasible = 3, kInterrupted = 130 };

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kUsage;
    case ErrorKind::kInfeasible:
      return kInfeasible;
    case ErrorKind::kInterrupted:
      return kInterrupted;
    case ErrorKind::kDamaged:
    case ErrorKind::kSystem:
    case ErrorKind::kDiverged:
      break;
  }
  return kFailed;
}

void add(CLI::App& app, const Argument& argument, const std::string& verb) {
  std::string names = argument.positional ? argument.name : argument.dashed();
  if (argument.letter) names = std::string("-") + argument.letter + "," + names;
  for (const std::string& alias : argument.aliases) names += "," + dashed(alias);
  if (argument.kind.empty()) {
    app.add_flag_function(names, [&argument](int64_t) { argument.take({}); });
    return;
  }
  if (argument.positional && !argument.several) {  // a second one is left over, and named in the message
    app.add_option_function<std::string>(names,
                                         [&argument](const std::string& word) { argument.take({word}); })
        ->required(argument.required);
    return;
  }
  app.add_option_function<std::vector<std::string>>(
         names,
         [&argument, verb](const std::vector<std::string>& given) {
           if (given.size() > 1 && !argument.several)
             throw usage_error(verb, ": ", argument.dashed(), " was given ", given.size(), " times, as '",
                               given[0], "' and '", given[1], "'; give it once");
           argument.take(given);
         })
      ->required(argument.required)
      ->allow_extra_args(argument.positional);
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

// What is wrong with the words after `heed VERB`, in our own message: CLI11 does not suggest a correction.
Error parse_failure(const CLI::ParseError& error, const CLI::App& app, const std::string& verb,
                    const Flags& flags) {
  std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error)) {  // CLI11 would name it by an alias
    const auto missing = std::ranges::find(flags.arguments(), true, &Argument::required);
    if (missing != flags.arguments().end()) message = missing->name + " is required";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    for (const std::string& word : app.remaining()) {
      const bool flag = word.starts_with("-");
      message = text(flag ? "unknown flag '" : "did not expect '", word, "'");
      if (flag) {
        message += suggestion(word, flags);
        break;
      }
    }
  }
  return usage_error(verb, ": ", message, message.ends_with("?") ? " See `" : "; see `", "heed ", verb,
                     " --help`");
}

void run(int argc, char** argv) {
  std::vector<std::string> words = words_of(argc, argv);
  if (words.empty()) throw usage_error("give a verb: ", verbs().names(), "; see `heed --help`");
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    std::printf("%s", (words.size() > 1 ? verb_help(verbs().find(words[1])) : program_help()).c_str());
    return;
  }
  if (words[0] == "--version") {
    std::printf("%s", version_text().c_str());
    return;
  }
  if (words[0].starts_with("-")) {
    const std::string guess = suggestion(words[0], Flags(""));
    throw usage_error("unknown flag '", words[0], "'",
                      guess.empty() ? "; a verb comes first, and `heed --help` lists them" : guess);
  }
  const VerbEntry& entry = verbs().find(words[0]);
  const std::unique_ptr<Verb> verb = entry.make();
  std::string threads;
  const Flags flags = flags_of(entry, *verb, threads);
  CLI::App app;
  for (const Argument& argument : flags.arguments()) add(app, argument, entry.name);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::CallForHelp&) {
    std::printf("%s", verb_help(entry).c_str());
    return;
  } catch (const CLI::ParseError& error) {
    throw parse_failure(error, app, entry.name, flags);
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
  if (verb->computes()) kernels::isa();  // throws now if this CPU cannot run heed
  verb->run();
}

}  // namespace
}  // namespace heed::cli

int main(int argc, char** argv) {
  heed::cli::hold_closed_streams();
  heed::keep_idle_threads_quiet(argv);
  try {
    heed::cli::watch_signals(heed::cli::kFailed);
    heed::cli::run(argc, argv);
    heed::cli::finish_output();
    return heed::cli::kDone;
  } catch (const heed::Error& error) {
    std::fprintf(stderr, "heed: %s\n", error.what());
    return heed::cli::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "heed: out of memory; choose a smaller model or batch\n");
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "heed: %s: %s\n", error.path1().c_str(),
                 heed::system_reason(error.code().value()).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heed: %s\n", error.what());
  }
  return heed::cli::kFailed;
}
