// The flags and arguments of a verb, each declared once: parsing, help, the manual page and completion follow
// from the list.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heed::cli {

// "-k", "--max-steps"
inline std::string dashed(const std::string& name) { return (name.size() == 1 ? "-" : "--") + name; }

struct Argument {
  std::string name;      // "max-steps"; of one letter: a short form only
  char letter = 0;       // a short form beside the name, such as 'o'
  std::string kind;      // COUNT, NUMBER, TIME, SIZE, PATH, TEXT; empty for a switch
  std::string fallback;  // the default, if it is a value
  std::string meaning;
  std::vector<std::string> aliases;  // other programs' names for it, understood as well; "m" is -m
  bool positional = false, required = false;
  bool several = false;  // words of a positional argument, occurrences of a flag
  std::function<void(const std::vector<std::string>&)> take;  // gets the words given; none for a switch

  std::string dashed() const { return cli::dashed(name); }
};

// Names are given with dashes. A letter and a comma before the name add a short form: "o,out" is --out and
// -o; "p" alone is -p.
class Flags {
 public:
  explicit Flags(std::string verb) : verb_(std::move(verb)) {}

  void positional(const std::string& name, std::string& value, const std::string& meaning, bool required);
  // Any number of words, at least one.
  void positionals(const std::string& name, std::vector<std::string>& values, const std::string& meaning);
  void flag(const std::string& name, bool& value, const std::string& meaning);
  void option(const std::string& name, std::string& value, const std::string& meaning,
              const std::string& kind = "TEXT");
  // `check` throws if the word is wrong. It runs before anything else on the command line is refused.
  void option(const std::string& name, std::string& value, const std::string& meaning,
              void (*check)(const std::string& word));
  // May be given several times, one word each.
  void options(const std::string& name, std::vector<std::string>& values, const std::string& meaning,
               const std::string& kind);
  void path(const std::string& name, std::string& value, const std::string& meaning);
  void option(const std::string& name, int64_t& value, const std::string& meaning);  // 5000, 300K, 2.5M
  void option(const std::string& name, double& value, const std::string& meaning);
  void seconds(const std::string& name, double& value, const std::string& meaning);  // 500ms, 90s, 5m, 1h
  // Stay empty when not given, for settings without a default.
  void option(const std::string& name, std::optional<std::string>& value, const std::string& meaning);
  void option(const std::string& name, std::optional<int64_t>& value, const std::string& meaning);
  void option(const std::string& name, std::optional<double>& value, const std::string& meaning);
  void seconds(const std::string& name, std::optional<double>& value, const std::string& meaning);
  // Where both milliseconds and seconds are usual: a number without a unit is refused.
  void latency(const std::string& name, std::optional<double>& value, const std::string& meaning);
  void bytes(const std::string& name, std::optional<int64_t>& value, const std::string& meaning);

  // Another name for an argument that was declared. Those that fit every verb are in flags.cpp.
  void alias(const std::string& name, const std::string& other);

  const std::vector<Argument>& arguments() const { return arguments_; }

 private:
  Argument& add(const std::string& names, const std::string& kind, const std::string& meaning);
  // `read` turns a word into a value; its second argument names the flag in messages.
  template <class Value, class Read>
  void add_value(const std::string& names, const std::string& kind, Value& value, const std::string& meaning,
                 Read read);

  std::string verb_;
  std::vector<Argument> arguments_;
};

}  // namespace heed::cli
