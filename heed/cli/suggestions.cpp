#include "heed/cli/suggestions.h"

#include <algorithm>

#include "heed/base/described_fields.h"
#include "heed/spec/model_spec.h"

namespace heed::cli {
namespace {

// What other programs call a setting, and heed's name for it: of a flag, or of a setting of the model. The
// first that the verb has counts.
struct Meaning {
  const char* word;
  std::vector<std::string> names;
};
const std::vector<Meaning>& meanings() {
  static const std::vector<Meaning> all = {
      {"block-size", {"length"}},
      {"context", {"length", "memory"}},
      {"context-length", {"length", "memory"}},
      {"corpus", {"data"}},
      {"ctx-size", {"length", "memory"}},
      {"d-model", {"width"}},
      {"dataset", {"data"}},
      {"depth", {"arch"}},
      {"eval-interval", {"evaluate-every"}},
      {"gradient-accumulation-steps", {"chunks"}},
      {"hidden-size", {"width"}},
      {"input", {"file", "data"}},
      {"iterations", {"steps"}},
      {"iters", {"steps"}},
      {"layers", {"arch"}},
      {"logprobs", {"json"}},
      {"max-iters", {"steps"}},
      {"max-new-tokens", {"tokens"}},
      {"max-tokens", {"tokens"}},
      {"n-embd", {"width"}},
      {"n-head", {"heads"}},
      {"n-layer", {"arch"}},
      {"n-predict", {"tokens"}},
      {"n-threads", {"threads"}},
      {"num-heads", {"heads"}},
      {"num-layers", {"arch"}},
      {"num-threads", {"threads"}},
      {"num-tokens", {"tokens"}},
      {"output", {"out"}},
      {"output-dir", {"out"}},
      {"out-dir", {"out"}},
      {"reverse-prompt", {"stop"}},
      {"seq-len", {"length"}},
      {"seq-length", {"length"}},
      {"split", {"part"}},
      {"text", {"prompt", "data"}},
      {"workers", {"threads"}},
  };
  return all;
}

std::string did_you_mean(const std::string& name) { return "; did you mean '" + dashed(name) + "'?"; }

bool is_of_model(std::string name) {
  std::ranges::replace(name, '-', '_');
  return std::ranges::any_of(described_fields<spec::ModelSpec>(),
                             [&](const DescribedField& field) { return field.name == name; });
}

// `settable`: whether the verb has --set.
std::string of_model(std::string name, bool settable) {
  std::ranges::replace(name, '-', '_');
  return settable
             ? "; it is a setting of the model: --set model." + name + "=VALUE"
             : "; it is a setting of the model, which its recipe gives: {\"model\": {\"" + name + "\": ...}}";
}

}  // namespace

std::string suggestion(const std::string& word, const Flags& flags) {
  const size_t begin = std::min(word.find_first_not_of('-'), word.size());
  const std::string name = word.substr(begin, std::min(word.find('='), word.size()) - begin);
  std::vector<std::string> known = {"help"};
  if (flags.arguments().empty()) known.push_back("version");
  for (const Argument& argument : flags.arguments()) {
    if (!argument.positional) known.push_back(argument.name);
    known.insert(known.end(), argument.aliases.begin(), argument.aliases.end());
  }
  const auto is_flag = [&](const std::string& other) {
    return std::ranges::find(known, other) != known.end();
  };
  if (const auto meaning = std::ranges::find(meanings(), name, &Meaning::word); meaning != meanings().end()) {
    for (const std::string& other : meaning->names) {
      if (is_flag(other)) return did_you_mean(other);
      if (is_of_model(other)) return of_model(other, is_flag("set"));
    }
  }
  if (is_of_model(name)) return of_model(name, is_flag("set"));
  if (const std::string guess = nearest(name, known); !guess.empty()) return did_you_mean(guess);
  for (const std::string& other : known) {  // "time" for "max-time"
    if (!name.empty() && other.ends_with("-" + name)) return did_you_mean(other);
  }
  return "";
}

}  // namespace heed::cli
