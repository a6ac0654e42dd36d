#include "heed/cli/bench.h"
#include "heed/cli/describe.h"
#include "heed/cli/train.h"
#include "heed/cli/verb.h"

namespace heed::cli {

// The list of verbs. A new verb adds one line.
const Registry<VerbEntry>& verbs() {
  static const Registry<VerbEntry> list("verb", {
                                                    bench_verb(),
                                                    describe_verb(),
                                                    train_verb(),
                                                });
  return list;
}

}  // namespace heed::cli
