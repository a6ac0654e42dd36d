#include "heed/cli/design.h"

#include <algorithm>
#include <cstdio>

#include "heed/spec/design.h"

namespace heed::cli {
namespace {

// The options of all rules together; each rule names its own.
struct Numbers {
  std::optional<int64_t> layers, pairs, k, every;
  std::optional<double> p;
  std::string reading;
};

struct Option {
  std::string name;
  bool given;
};

struct Rule {
  std::string name;
  std::string meaning;
  std::vector<std::string> needed;
  std::vector<std::string> allowed;
  std::string (*write)(const Numbers& numbers);
};

// The list of design rules. A new one adds one entry.
const Registry<Rule>& rules() {
  static const Registry<Rule> list(
      "design rule", {
                         {"par",
                          "one block in p attends, in the first two thirds",
                          {"--layers"},
                          {"-p", "--rule"},
                          [](const Numbers& n) {
                            const std::string reading = n.reading.empty() ? "strict" : n.reading;
                            return spec::design_par(*n.layers, n.p.value_or(5),
                                                    enum_from_name<DesignRule>(reading));
                          }},
                         {"sandwich",
                          "k attention blocks first, k feed-forward blocks last",
                          {"--pairs", "-k"},
                          {},
                          [](const Numbers& n) { return spec::design_sandwich(*n.pairs, *n.k); }},
                         {"sru++",
                          "recurrence everywhere, attention in every n-th layer",
                          {"--layers", "--every"},
                          {},
                          [](const Numbers& n) { return spec::design_sru(*n.layers, *n.every); }},
                     });
  return list;
}

class Design : public Verb {
 public:
  void declare(Flags& flags) override {
    std::string known;
    for (const Rule& rule : rules()) known += (known.empty() ? "" : "; ") + rule.name + ": " + rule.meaning;
    flags.positional("kind", rule_, known, true);
    flags.option("layers", numbers_.layers, "par, sru++: number of blocks");
    flags.option("p", numbers_.p, "par: blocks per attention block; default: 5");
    flags.option("rule", numbers_.reading, "par: strict (default) or published (the authors' rounding)");
    flags.option("pairs", numbers_.pairs, "sandwich: number of attention blocks, and of feed-forward blocks");
    flags.option("k", numbers_.k, "sandwich: length of its two ends");
    flags.option("every", numbers_.every, "sru++: layers per attending layer, 0 for none");
  }

  void run() override {
    const Rule& rule = rules().find(rule_);
    for (const Option& option : options()) {
      const auto in = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), option.name) != names.end();
      };
      if (!option.given && in(rule.needed))
        throw usage_error("design ", rule.name, ": ", option.name, " is missing; it needs ",
                          joined(rule.needed));
      if (option.given && !in(rule.needed) && !in(rule.allowed))
        throw usage_error("design ", rule.name, ": ", option.name, " is not for this rule; it takes ",
                          joined(rule.needed), rule.allowed.empty() ? "" : ", " + joined(rule.allowed));
    }
    std::printf("%s\n", rule.write(numbers_).c_str());
  }

 private:
  std::vector<Option> options() const {
    return {{"--layers", numbers_.layers.has_value()},
            {"-p", numbers_.p.has_value()},
            {"--rule", !numbers_.reading.empty()},
            {"--pairs", numbers_.pairs.has_value()},
            {"-k", numbers_.k.has_value()},
            {"--every", numbers_.every.has_value()}};
  }
  static std::string joined(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return all;
  }

  std::string rule_;
  Numbers numbers_;
};

}  // namespace

VerbEntry design_verb() {
  return entry<Design>("design", "Writes an architecture string by a published rule: par, sandwich or sru++.",
                       {"heed design par --layers 32 -p 5", "heed design sandwich --pairs 8 -k 3",
                        "heed design sru++ --layers 10 --every 5"});
}

}  // namespace heed::cli
