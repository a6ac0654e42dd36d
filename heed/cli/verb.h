// A verb of the command line: `heed VERB ...`. One file each, one line in verbs.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/registry.h"
#include "heed/cli/flags.h"

namespace heed::cli {

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void declare(Flags& flags) = 0;
  virtual void run() = 0;
  // Whether --threads may give several numbers, to try each.
  virtual bool sweeps_threads() const { return false; }
  // Whether it may use heed's kernels; a verb that does not works on any CPU.
  virtual bool computes() const { return true; }
  std::vector<int64_t> threads;  // as asked for; the first is set
};

// "1,2,8"; `what` starts the message about anything else.
std::vector<int64_t> parse_list(const std::string& written, const std::string& what);

struct VerbEntry {
  std::string name;
  std::string summary;
  std::vector<std::string> examples;
  std::unique_ptr<Verb> (*make)();
};

template <class VerbType>
VerbEntry entry(std::string name, std::string summary, std::vector<std::string> examples) {
  return {std::move(name), std::move(summary), std::move(examples),
          []() -> std::unique_ptr<Verb> { return std::make_unique<VerbType>(); }};
}

const Registry<VerbEntry>& verbs();

// The flags of the verb: its own and those of every verb.
Flags flags_of(const VerbEntry& entry, Verb& verb, std::string& threads);

}  // namespace heed::cli
