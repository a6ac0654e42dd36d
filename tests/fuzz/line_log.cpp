// Files of JSON lines: metrics.jsonl, theta.jsonl, samples.jsonl (store/line_log.h).
#include "heed/store/line_log.h"

#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const std::filesystem::path path = fuzz::file_with(input, "log.jsonl");
  std::vector<Json> before;
  if (!fuzz::answers([&] { before = store::read_lines(path); })) return;
  fuzz::must("a log that can be read can be added to", [&] {
    store::LineLog log(path);
    fuzz::law(store::read_lines(path) == before, "a log that is opened keeps its lines");
    const Json line = {{"step", 7}, {"text", std::string(input)}};
    log.append(line);
    fuzz::law(store::read_lines(path).size() == before.size() + 1, "a line is added to the others");
    log.cut_after(6);
    const std::vector<Json> cut = store::read_lines(path);
    fuzz::law(cut.size() <= before.size() && std::equal(cut.begin(), cut.end(), before.begin()),
              "what is cut off is at the end");
  });
}
