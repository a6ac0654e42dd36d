// Files that an earlier heed wrote mean today what they meant then. before.json holds the 138 recipes of
// version 0.1.0 as they were written, all settings of each backbone at the time, the weights that each recipe
// had, and config.json of runs and models.
#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/files.h"
#include "heed/base/hash.h"
#include "heed/store/json_file.h"
#include "heed/store/model_folder.h"
#include "tests/support/small_models.h"

namespace heed::store {
namespace {

const Json& before() {
  static const Json all = read_json_object(HEED_SOURCE_DIR "/tests/store/before.json");
  return all;
}

// Where a setting of then stands in what spec::to_json writes today, for those that were renamed or moved.
const std::map<std::string, std::string>& moved() {
  static const std::map<std::string, std::string> all = {};
  return all;
}

// How often a model is evaluated follows the length of the run since, where a recipe does not say it; what is
// learned stays the same.
bool changes_results(const std::string& path) { return path != "/training/evaluate_every"; }

// A recipe as heed understood it then: what it says, on top of the settings of its backbone.
Json understood_then(const Json& recipe) {
  Json all = before()["settings"].at(recipe.at("model").value("backbone", "gpt2"));
  for (const auto& [part, settings] : recipe.items()) {
    for (const auto& [key, value] : settings.items()) all[part][key] = value;
  }
  return all;
}

// Every setting of then has its value; those that were added since may have any.
void expect_same_meaning(const spec::Recipe& recipe, const Json& then, const std::string& what) {
  const Json now = spec::to_json(recipe);
  for (const auto& [part, settings] : then.items()) {
    if (!settings.is_object()) continue;  // about, published
    for (const auto& [key, value] : settings.items()) {
      const std::string path = "/" + part + "/" + key;
      if (!changes_results(path)) continue;
      const auto elsewhere = moved().find(path);
      const Json::json_pointer at(elsewhere == moved().end() ? path : elsewhere->second);
      ASSERT_TRUE(now.contains(at)) << what << ": " << at.to_string() << " is gone";
      EXPECT_EQ(now.at(at), value) << what << ": " << path;
    }
  }
}

// Names and shapes of all weights.
std::string weights_of(const spec::ModelSpec& spec) {
  std::string all;
  for (const auto& [name, weight] : model::weights_of(spec).plain) all += name + weight.shape.str() + "\n";
  return hash_name(hash_bytes(all));
}

TEST(Before, RecipesMeanWhatTheyMeant) {
  const Json& recipes = before()["recipes"];
  EXPECT_EQ(recipes.size(), 138u);
  for (const auto& [name, written] : recipes.items()) {
    const spec::Recipe recipe = spec::read_recipe(written, name);
    expect_same_meaning(recipe, understood_then(written), name);
    EXPECT_EQ(weights_of(recipe.model), before()["weights"].at(name)) << name;
  }
}

// The recipe of the same name in recipes/, however it is written today.
TEST(Before, TheFolderHasTheSameRecipes) {
  for (const auto& [name, written] : before()["recipes"].items())
    expect_same_meaning(spec::load_recipe(name), understood_then(written), name);
}

TEST(Before, RunsAreRead) {
  const Json& configs = before()["configs"];
  expect_same_meaning(spec::read_recipe(configs["training run"], "a run"), configs["training run"], "a run");
  const Json& supernet = configs["supernet"]["recipe"];
  expect_same_meaning(spec::read_recipe(supernet, "a supernet"), supernet, "a supernet");
}

TEST(Before, ASearchNamesItsModels) {
  const TemporaryFolder folder;
  write_json_object(folder / "config.json", before()["configs"]["search"]);
  const spec::Recipe recipe = spec::load_recipe(folder.path().string() + ":16/0/1/256 sf2:32 r/8");
  EXPECT_EQ(recipe.model.letters(), "sfr");
  EXPECT_EQ(recipe.model.width, 16);
  EXPECT_EQ(recipe.training.steps, 5);
}

TEST(Before, ModelFoldersAreRead) {
  for (const char* kind : {"model", "GPT-2 model"}) {
    const Json& config = before()["configs"][kind];
    const spec::Recipe recipe = spec::read_recipe(config["heed"], kind);
    // The weights of such a model, with the config of then.
    const TemporaryFolder folder;
    const model::Weights weights = model::weights_of(recipe.model);
    std::map<std::string, std::vector<float>> values;
    Tensors tensors;
    for (const auto& [name, weight] : weights.plain) {
      values[name].resize(static_cast<size_t>(weight.shape.elements()));
      tensors[name] = {values[name].data(), {weight.shape}};
      test::weights_for_tests(weights)(name, tensors[name]);
    }
    save_model_folder(folder / "model", recipe, tensors, Json::object(), "");
    write_json_object(folder / "model" / "config.json", config);
    const ModelFolder model(folder / "model");
    expect_same_meaning(model.recipe(), config["heed"], kind);
    for (auto& [name, expected] : values) {
      std::vector<float> read(expected.size());
      model.read(name, {read.data(), tensors[name].type});
      EXPECT_EQ(read, expected) << kind << ": " << name;
    }
  }
}

}  // namespace
}  // namespace heed::store
