// Recipes, and models that a search left, by name (spec/recipe.h). Of the folder of a search only config.json
// is read; "name" holds how the model is called.
#include "heed/spec/recipe.h"

#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const fuzz::Folder folder(input, {"recipe.json", "config.json", "name"});
  if (std::filesystem::exists(folder.path() / "recipe.json"))
    fuzz::answers([&] {
      const spec::Recipe recipe = spec::load_recipe((folder.path() / "recipe.json").string());
      const Json json = to_json(recipe);
      constexpr const char* kLaw = "recipe -> JSON -> recipe";
      const auto again = [&] { return to_json(spec::read_recipe(Json::parse(json.dump()), "again")); };
      fuzz::law(fuzz::must(kLaw, again) == json, kLaw);
    });
  if (!std::filesystem::exists(folder.path() / "config.json")) return;
  std::string name;
  std::ifstream file(folder.path() / "name");
  std::getline(file, name);
  fuzz::answers([&] { spec::load_recipe(folder.path().string() + ":" + name); });
}
