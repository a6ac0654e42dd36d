#include <sstream>

#include "heed/base/units.h"
#include "heed/cli/bench.h"
#include "heed/cli/completion.h"
#include "heed/cli/describe.h"
#include "heed/cli/design.h"
#include "heed/cli/device.h"
#include "heed/cli/doctor.h"
#include "heed/cli/embed.h"
#include "heed/cli/eval.h"
#include "heed/cli/generate.h"
#include "heed/cli/manual.h"
#include "heed/cli/predict.h"
#include "heed/cli/rank.h"
#include "heed/cli/recipes.h"
#include "heed/cli/report.h"
#include "heed/cli/search.h"
#include "heed/cli/serve.h"
#include "heed/cli/supernet.h"
#include "heed/cli/train.h"
#include "heed/cli/verb.h"
#include "heed/cli/worth.h"

namespace heed::cli {

// The list of verbs. A new verb adds one line.
const Registry<VerbEntry>& verbs() {
  static const Registry<VerbEntry> list(
      "verb", {
                  bench_verb(),   completion_verb(), describe_verb(), design_verb(),   device_verb(),
                  doctor_verb(),  embed_verb(),      eval_verb(),     generate_verb(), manual_verb(),
                  predict_verb(), rank_verb(),       recipes_verb(),  report_verb(),   search_verb(),
                  serve_verb(),   supernet_verb(),   train_verb(),    worth_verb(),
              });
  return list;
}

Flags flags_of(const VerbEntry& entry, Verb& verb, std::string& threads) {
  Flags flags(entry.name);
  verb.declare(flags);
  flags.option("t,threads", threads,
               text("threads to use; default: all available cores",
                    verb.sweeps_threads() ? "; a list tries each: 1,2" : ""),
               "COUNT");
  return flags;
}

std::vector<int64_t> parse_list(const std::string& written, const std::string& what) {
  std::vector<int64_t> values;
  std::istringstream list(written);
  for (std::string value; std::getline(list, value, ',');) values.push_back(parse_count(value, what));
  if (values.empty()) throw usage_error(what, ": '", written, "' was given; write a number, or several: 1,2");
  return values;
}

}  // namespace heed::cli
