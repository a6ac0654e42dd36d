// The program: finds the verb, reads its flags, turns exceptions into exit codes. The only file that knows
// CLI11.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "heed/base/system_error.h"
#include "heed/base/threads.h"
#include "heed/cli/standard_streams.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/verb.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/isa.h"

namespace heed::cli {
namespace {

class Cli11Flags : public Flags {
 public:
  explicit Cli11Flags(CLI::App& app) : app_(app) {}
  void positional(const std::string& name, std::string& value, const std::string& meaning,
                  bool required) override {
    app_.add_option(name, value, meaning)->required(required);
  }
  void positionals(const std::string& name, std::vector<std::string>& values,
                   const std::string& meaning) override {
    app_.add_option(name, values, meaning)->required();
  }
  void flag(const std::string& name, bool& value, const std::string& meaning) override {
    app_.add_flag(spellings(name), value, meaning);
  }
  void option(const std::string& name, int64_t& value, const std::string& meaning) override {
    add(name, value, meaning);
  }
  void option(const std::string& name, double& value, const std::string& meaning) override {
    add(name, value, meaning);
  }
  void option(const std::string& name, std::string& value, const std::string& meaning) override {
    add(name, value, meaning);
  }
  void option(const std::string& name, std::optional<int64_t>& value, const std::string& meaning) override {
    app_.add_option(spellings(name), value, meaning);
  }
  void option(const std::string& name, std::optional<double>& value, const std::string& meaning) override {
    app_.add_option(spellings(name), value, meaning);
  }

 private:
  template <class T>
  void add(const std::string& name, T& value, const std::string& meaning) {
    app_.add_option(spellings(name), value, meaning)->capture_default_str();
  }
  // "o,some-name" -> "-o,--some-name,--some_name"
  static std::string spellings(const std::string& names) {
    std::string all;
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) {
      all += (all.empty() ? "-" : ",-") + (name.size() == 1 ? name : "-" + name);
      std::string other = name;
      for (char& c : other) c = c == '-' ? '_' : c;
      if (other != name) all += ",--" + other;
    }
    return all;
  }
  CLI::App& app_;
};

// What was wrong with the words after `heed`, in our own: CLI11 does not know what was meant.
Error parse_failure(const CLI::ParseError& error, const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "heed" : "heed " + chosen[0]->get_name();
  std::string message = error.what();
  if (!chosen.empty() && dynamic_cast<const CLI::ExtrasError*>(&error)) {
    std::vector<std::string> known;
    for (const CLI::Option* option : chosen[0]->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    for (const std::string& word : chosen[0]->remaining()) {
      const bool flag = word.starts_with("-");
      message = text(flag ? "unknown flag '" : "did not expect '", word, "'");
      const std::string guess = flag ? nearest(word.substr(0, word.find('=')), known) : "";
      if (!guess.empty()) message += "; did you mean '" + guess + "'?";
      if (flag) break;
    }
  } else if (const std::string prefix = "Could not convert: "; message.starts_with(prefix)) {
    message = message.substr(prefix.size()) + ": a number is expected";
  }
  return usage_error(command == "heed" ? "" : command.substr(5) + ": ", message,
                     message.ends_with("?") ? " `" : "; `", command, " --help` tells more");
}

int run(int argc, char** argv) {
  if (argc < 2) throw usage_error("give a verb: ", verbs().names(), "; `heed --help` tells more");
  if (argv[1][0] != '-') verbs().find(argv[1]);
  CLI::App app("heed finds, trains and runs the language model that fits the device it runs on.", "heed");
  app.set_version_flag("--version", text("heed ", HEED_VERSION, " (", kernels::gemm_library(), ")"));
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, std::unique_ptr<Verb>>> commands;
  std::string threads = std::to_string(available_threads());
  for (const VerbEntry& entry : verbs()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    command->footer("Example: " + entry.example);
    commands.emplace_back(command, entry.make());
    Cli11Flags flags(*command);
    commands.back().second->declare(flags);
    flags.option("t,threads", threads, "threads to use");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw parse_failure(error, app);
    app.exit(error);  // prints help or version
    return kDone;
  }
  const std::vector<int64_t> counts = parse_list(threads, "--threads");
  for (const int64_t count : counts) {
    if (count < 1 || count > 1024)
      throw usage_error("--threads: ", count, " asked for; give a number from 1 to 1024");
  }
  set_thread_count(static_cast<int>(counts.front()));
  kernels::isa();  // says now if this CPU cannot run heed
  for (auto& [command, verb] : commands) {
    if (!command->parsed()) continue;
    if (counts.size() > 1 && !verb->sweeps_threads())
      throw usage_error("--threads: ", threads, " asked for; ", command->get_name(), " takes one number");
    verb->threads = counts;
    verb->run();
  }
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
