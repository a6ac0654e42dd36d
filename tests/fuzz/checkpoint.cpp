// Folders of checkpoints (store/checkpoint.h).
#include "heed/store/checkpoint.h"

#include "heed/tensor/buffer.h"
#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  std::vector<std::string> names;
  for (const char* step : {"step-00000003/", "step-00000005/"}) {
    for (const char* file : {"model.safetensors", "state.safetensors", "progress.json"})
      names.push_back(std::string(step) + file);
  }
  const fuzz::Folder folder(input, names);
  const Buffer floats(6 * sizeof(float)), ints(4 * sizeof(int32_t));
  const store::Tensors parameters = {{"w", {floats.data(), {Shape{2, 3}, DType::kF32}}}},
                       states = {{"n", {ints.data(), {Shape{4}, DType::kI32}}}};
  fuzz::answers([&] {
    const store::LatestCheckpoint latest = store::latest_checkpoint(folder.path());
    if (latest.path.empty()) return;
    fuzz::law(store::latest_checkpoint(folder.path()).step == latest.step, "looking changes nothing");
    store::load_checkpoint(latest.path, parameters);
    store::load_checkpoint(latest.path, parameters, states);
  });
}
