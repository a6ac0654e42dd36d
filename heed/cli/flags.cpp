#include "heed/cli/flags.h"

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"
#include "heed/base/units.h"

namespace heed::cli {
namespace {

// Names that other programs give to flags, whatever the verb.
struct Alias {
  const char* name;
  const char* other;
};
constexpr Alias kAliases[] = {
    {"batch", "batch-size"}, {"learning-rate", "lr"}, {"model", "m"},
    {"model", "model"},      {"temperature", "temp"}, {"vocabulary", "vocab-size"},
};

double read_number(const std::string& word, const std::string& what) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size())
    throw usage_error(what, ": '", word, "' was given; a number is expected");
  return number;
}

std::string shown(const std::string& value) { return value; }
std::string shown(int64_t value) { return text(value); }
std::string shown(double value) { return text(value); }
template <class T>
std::string shown(const std::optional<T>&) {
  return "";
}

}  // namespace

Argument& Flags::add(const std::string& names, const std::string& kind, const std::string& meaning) {
  const size_t comma = names.find(',');
  Argument argument;
  argument.name = names.substr(comma == std::string::npos ? 0 : comma + 1);
  argument.letter = comma == std::string::npos ? '\0' : names[0];
  argument.kind = kind;
  argument.meaning = meaning;
  for (const Alias& alias : kAliases) {
    if (argument.name == alias.name) argument.aliases.push_back(alias.other);
  }
  arguments_.push_back(std::move(argument));
  return arguments_.back();
}

void Flags::alias(const std::string& name, const std::string& other) {
  const auto found = std::ranges::find(arguments_, name, &Argument::name);
  HEED_ASSERT(found != arguments_.end());
  found->aliases.push_back(other);
}

template <class Value, class Read>
void Flags::add_value(const std::string& names, const std::string& kind, Value& value,
                      const std::string& meaning, Read read) {
  Argument& argument = add(names, kind, meaning);
  argument.fallback = shown(value);
  const std::string what = verb_ + ": " + argument.dashed();
  argument.take = [&value, what, read](const std::vector<std::string>& words) {
    value = read(words.back(), what);
  };
}

void Flags::positional(const std::string& name, std::string& value, const std::string& meaning,
                       bool required) {
  Argument& argument = add(name, "TEXT", meaning);
  argument.positional = true, argument.required = required;
  argument.take = [&value](const std::vector<std::string>& words) { value = words.back(); };
}

void Flags::positionals(const std::string& name, std::vector<std::string>& values,
                        const std::string& meaning) {
  Argument& argument = add(name, "TEXT", meaning);
  argument.positional = argument.required = argument.several = true;
  argument.take = [&values](const std::vector<std::string>& words) { values = words; };
}

void Flags::flag(const std::string& name, bool& value, const std::string& meaning) {
  add(name, "", meaning).take = [&value](const std::vector<std::string>&) { value = true; };
}

void Flags::option(const std::string& name, std::string& value, const std::string& meaning,
                   const std::string& kind) {
  add_value(name, kind, value, meaning, [](const std::string& word, const std::string&) { return word; });
}

void Flags::option(const std::string& name, std::string& value, const std::string& meaning,
                   void (*check)(const std::string& word)) {
  add_value(name, "TEXT", value, meaning, [check](const std::string& word, const std::string&) {
    check(word);
    return word;
  });
}

void Flags::options(const std::string& name, std::vector<std::string>& values, const std::string& meaning,
                    const std::string& kind) {
  Argument& argument = add(name, kind, meaning);
  argument.several = true;
  argument.take = [&values](const std::vector<std::string>& words) { values = words; };
}

void Flags::path(const std::string& name, std::string& value, const std::string& meaning) {
  option(name, value, meaning, "PATH");
}

void Flags::option(const std::string& name, int64_t& value, const std::string& meaning) {
  add_value(name, "COUNT", value, meaning, parse_count);
}

void Flags::option(const std::string& name, std::optional<std::string>& value, const std::string& meaning) {
  add_value(name, "TEXT", value, meaning, [](const std::string& word, const std::string&) { return word; });
}

void Flags::option(const std::string& name, std::optional<int64_t>& value, const std::string& meaning) {
  add_value(name, "COUNT", value, meaning, parse_count);
}

void Flags::option(const std::string& name, double& value, const std::string& meaning) {
  add_value(name, "NUMBER", value, meaning, read_number);
}

void Flags::option(const std::string& name, std::optional<double>& value, const std::string& meaning) {
  add_value(name, "NUMBER", value, meaning, read_number);
}

void Flags::seconds(const std::string& name, double& value, const std::string& meaning) {
  add_value(name, "TIME", value, meaning, parse_seconds);
  arguments_.back().fallback += "s";
}

void Flags::seconds(const std::string& name, std::optional<double>& value, const std::string& meaning) {
  add_value(name, "TIME", value, meaning, parse_seconds);
}

void Flags::latency(const std::string& name, std::optional<double>& value, const std::string& meaning) {
  add_value(name, "TIME", value, meaning, [](const std::string& written, const std::string& what) {
    const double seconds = parse_seconds(written, what);
    if (std::isdigit(static_cast<unsigned char>(written.back())))
      throw usage_error(what, " is ", written, " without a unit; ", written, "ms or ", written, "s?");
    return seconds;
  });
}

void Flags::bytes(const std::string& name, std::optional<int64_t>& value, const std::string& meaning) {
  add_value(name, "SIZE", value, meaning, parse_bytes);
}

}  // namespace heed::cli
