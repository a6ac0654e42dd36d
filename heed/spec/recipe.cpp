#include "heed/spec/recipe.h"

#include <algorithm>
#include <fstream>
#include <optional>

#include "heed/base/json.h"
#include "heed/spec/shared_folder.h"
#include "heed/spec/space.h"
#include "heed/spec/space_definition.h"

namespace heed::spec {
namespace {

namespace fs = std::filesystem;

fs::path recipes_folder() { return shared_folder("recipes", "HEED_RECIPES"); }

template <class T>
T read_part(const Json& json, const std::string& key, const std::string& what) {
  try {
    return json.value(key, T());
  } catch (const Json::exception&) {
    throw usage_error(what, ": '", key, "' must be text or a list of sentences, it is ", json.at(key).dump());
  }
}

Json parse(const std::string& content, const std::string& what) {
  try {
    return parse_json(content);
  } catch (const Error& error) {
    throw usage_error(what, ": ", error.what(),
                      "; a recipe is an object such as {\"model\": {\"arch\": \"(sf)x2\"}}");
  }
}

const std::vector<std::string> kKeys = {"about", "published", "model", "data", "training", "evaluation"};

// "found:128/0/1/256 r/64 sf4:512": the folder of a search, and the key of a model in its space.
std::optional<Recipe> candidate_of_search(const std::string& name) {
  for (size_t colon = name.find(':'); colon != std::string::npos; colon = name.find(':', colon + 1)) {
    const fs::path config = fs::path(name.substr(0, colon)) / "config.json";
    std::ifstream file(config);
    if (!file) continue;
    const Json json =
        with_space_definition(parse(std::string(std::istreambuf_iterator<char>(file), {}), config.string()));
    if (!json.is_object() || !json.contains(kSpaceDefinition))
      throw usage_error("'", name, "': ", config.parent_path().string(),
                        " is not a folder of a search, which would name models");
    Space space = read_space(json[kSpaceDefinition], config.string());
    space.name = read_part<std::string>(json, "space", config.string());
    Candidate candidate;
    try {
      candidate = space.candidate_of(name.substr(colon + 1));
    } catch (const Error& error) {  // where a record is damaged, a name is wrong
      throw usage_error(error.what());
    }
    Recipe recipe = space.recipe_of(candidate);
    validate(recipe.model);
    recipe.name = name;
    return recipe;
  }
  return std::nullopt;
}

}  // namespace

Recipe read_recipe(const Json& json, const std::string& what) {
  if (!json.is_object() || !json.contains("model"))
    throw usage_error(what, ": a recipe is an object with at least \"model\": {...}");
  for (const auto& [key, value] : json.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) continue;
    const std::string guess = nearest(key, kKeys);
    throw usage_error(what, ": unknown part '", key, "'",
                      guess.empty() ? "" : "; did you mean '" + guess + "'?");
  }
  Recipe recipe;
  recipe.about = read_part<std::string>(json, "about", what);
  recipe.published = read_part<std::vector<std::string>>(json, "published", what);
  recipe.model = read_model_spec(json.at("model"), what + ": model");
  recipe.data = from_json<DataSpec>(json.value("data", Json::object()), what + ": data");
  recipe.training = from_json<TrainingSpec>(json.value("training", Json::object()), what + ": training");
  recipe.evaluation =
      from_json<EvaluationSpec>(json.value("evaluation", Json::object()), what + ": evaluation");
  validate(recipe.training);
  validate(recipe.evaluation);
  if (json.at("model").empty())
    throw usage_error(what,
                      ": \"model\" is empty; say at least what it is made of, such as {\"arch\": \"(sf)x4\", "
                      "\"width\": 256}");
  return recipe;
}

Json to_json(const Recipe& recipe) {
  Json json = {{"model", heed::to_json(recipe.model)},
               {"data", heed::to_json(recipe.data)},
               {"training", heed::to_json(recipe.training)},
               {"evaluation", heed::to_json(recipe.evaluation)}};
  if (!recipe.about.empty()) json["about"] = recipe.about;
  if (!recipe.published.empty()) json["published"] = recipe.published;
  return json;
}

namespace {

std::string did_you_mean_setting(const std::string& name, const std::vector<std::string>& known) {
  std::string guess;
  for (const std::string& setting : known) {  // "dropout" for "model.dropout"
    if (guess.empty() && setting.ends_with("." + name)) guess = setting;
  }
  if (guess.empty()) guess = nearest(name, known);
  return guess.empty() ? "" : text("; did you mean '", guess, "'?");
}

}  // namespace

Recipe with_settings(const Recipe& recipe, const std::vector<std::string>& assignments) {
  Json json = to_json(recipe);
  std::vector<std::string> known, given;
  for (const char* part : {"model", "data", "training", "evaluation"}) {
    for (const auto& [key, value] : json.at(part).items()) known.push_back(text(part, ".", key));
  }
  for (const std::string& assignment : assignments) {
    const size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    if (std::ranges::find(known, name) == known.end())
      throw usage_error("'", name, "' is not a setting of a recipe; give one such as model.dropout=0.2",
                        did_you_mean_setting(name, known));
    if (equals == std::string::npos)
      throw usage_error("'", name, "' needs a value; write ", name, "=VALUE, as in model.dropout=0.2");
    if (std::ranges::find(given, name) != given.end())
      throw usage_error("'", name, "' is set twice; set it once");
    given.push_back(name);
    const std::string word = assignment.substr(equals + 1);
    Json value = Json::parse(word, nullptr, false);
    if (value.is_discarded()) value = word;
    const size_t point = name.find('.');
    Json& setting = json.at(name.substr(0, point)).at(name.substr(point + 1));
    if (setting.is_array() && !value.is_array()) value = Json::array({value});
    setting = std::move(value);
  }
  Recipe changed = read_recipe(json, recipe.name);
  validate(changed.model);
  changed.name = recipe.name;
  return changed;
}

Recipe load_recipe(const std::string& name_or_path) {
  if (const auto candidate = candidate_of_search(name_or_path)) return *candidate;
  fs::path path = name_or_path;
  if (fs::is_directory(path))
    throw usage_error("'", name_or_path,
                      "' is a folder, neither a file nor a recipe; `heed recipes` lists them");
  if (!fs::is_regular_file(path)) path = recipes_folder() / (name_or_path + ".json");
  std::ifstream file(path);
  if (!file) {
    const std::string guess = nearest(name_or_path, recipe_names());
    throw usage_error("'", name_or_path, "' is neither a file nor a recipe; ",
                      guess.empty() ? "`heed recipes` lists them" : "did you mean '" + guess + "'?");
  }
  const std::string content(std::istreambuf_iterator<char>(file), {});
  const Json json = parse(content, path.string());
  Recipe recipe = read_recipe(json, path.string());
  recipe.name = path.stem();
  return recipe;
}

std::vector<std::string> recipe_names() { return names_in(recipes_folder(), ".json"); }

}  // namespace heed::spec
