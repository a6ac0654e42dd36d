#include "heed/train/run_progress.h"

#include "heed/store/json_file.h"

namespace heed::train {

namespace fs = std::filesystem;

spec::Recipe recipe_of_run(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  return spec::read_recipe(store::read_json_object(config), config.string());
}

spec::Recipe with_more_steps(spec::Recipe recipe, const fs::path& folder, int64_t more) {
  if (!fs::exists(folder / "config.json"))
    throw usage_error("train: ", more, " more steps were asked for, and ", folder.string(),
                      " is not a run yet; give --steps to start one");
  recipe.training.steps = recipe_of_run(folder).training.steps;
  const fs::path newest = store::newest_checkpoint(folder / "checkpoints");
  if (newest.empty()) return recipe;
  const auto progress = from_json<Progress>(store::read_progress(newest), newest.string());
  if (progress.is_at_end(recipe.training.steps, newest.string()))
    recipe.training.steps = progress.step + more;
  return recipe;
}

}  // namespace heed::train
