// A verb of the command line: `heed VERB ...`. One file each, one line in verbs.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/registry.h"

namespace heed::cli {

// Where a verb declares what it takes. Names are given with dashes; underscores are understood too. A letter
// and a comma before the name add a short form: "o,out" is --out and -o; "p" alone is -p.
class Flags {
 public:
  virtual ~Flags() = default;
  virtual void positional(const std::string& name, std::string& value, const std::string& meaning,
                          bool required) = 0;
  // Any number of words, at least one.
  virtual void positionals(const std::string& name, std::vector<std::string>& values,
                           const std::string& meaning) = 0;
  virtual void flag(const std::string& name, bool& value, const std::string& meaning) = 0;
  virtual void option(const std::string& name, int64_t& value, const std::string& meaning) = 0;
  virtual void option(const std::string& name, double& value, const std::string& meaning) = 0;
  virtual void option(const std::string& name, std::string& value, const std::string& meaning) = 0;
  // Stay empty when not given, for settings without a default.
  virtual void option(const std::string& name, std::optional<int64_t>& value, const std::string& meaning) = 0;
  virtual void option(const std::string& name, std::optional<double>& value, const std::string& meaning) = 0;
};

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void declare(Flags& flags) = 0;
  virtual void run() = 0;
  // Whether --threads may name several numbers, to be tried one after the other.
  virtual bool sweeps_threads() const { return false; }
  std::vector<int64_t> threads;  // as asked for; the first is set
};

// "1,2,8"; `what` begins the message about anything else.
std::vector<int64_t> parse_list(const std::string& written, const std::string& what);

struct VerbEntry {
  std::string name;
  std::string summary;
  std::string example;
  std::unique_ptr<Verb> (*make)();
};

const Registry<VerbEntry>& verbs();

}  // namespace heed::cli
