// A run's folder that is opened again (store/run_folder.h).
#include "heed/store/run_folder.h"

#include "heed/store/json_file.h"
#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const fuzz::Folder folder(input, {"config.json", "run.json", "metrics.jsonl", "asked.json"});
  fuzz::answers([&] {
    const Json asked = store::read_json_object(folder.path() / "asked.json");
    std::filesystem::remove(folder.path() / "asked.json");
    const Json record = {{"version", "1"}};
    const Json first = store::RunFolder(folder.path(), store::RunKind::kTrain, asked, record).record();
    store::RunFolder again(folder.path(), store::RunKind::kTrain, asked, record);
    fuzz::law(
        again.reopened() && again.record().at("resumed").size() == first.value("resumed", Json()).size() + 1,
        "a run that was opened can be opened again");
  });
}
