// Models on disk, heed's and those of Hugging Face's families (store/model_folder.h).
#include "heed/store/model_folder.h"

#include "heed/tensor/buffer.h"
#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const fuzz::Folder folder(input, {"config.json", "model.safetensors"});
  const Buffer numbers(12 * sizeof(float));
  fuzz::answers([&] {
    const store::ModelFolder model(folder.path());
    const Json recipe = to_json(model.recipe());
    constexpr const char* kLaw = "recipe -> JSON -> recipe";
    const auto again = [&] { return to_json(spec::read_recipe(recipe, "again")); };
    fuzz::law(fuzz::must(kLaw, again) == recipe, kLaw);
    for (const char* name : {"embedding.table", "blocks.3.norm.gain", "nothing"})
      fuzz::answers([&] { model.read(name, {numbers.data(), {Shape{2, 4}, DType::kF32}}); });
    const char* joined = "blocks.0.attention.qkv.weight";
    fuzz::answers([&] { model.read(joined, {numbers.data(), {Shape{2, 6}, DType::kF32}}); });
    fuzz::answers([&] {
      model.read_rows(joined, Shape{2, 6}, 1, {numbers.data(), {Shape{1, 6}, DType::kF32}});
    });
  });
}
