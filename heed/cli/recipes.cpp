#include "heed/cli/recipes.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "heed/spec/recipe.h"

namespace heed::cli {
namespace {

constexpr size_t kColumns = 100;

// A recipe's "about" begins with the size: "192 M parameters: ...".
std::string size_of(const std::string& about) {
  const size_t end = about.find(" parameters");
  return end == std::string::npos ? "" : about.substr(0, end);
}

// As many parts of a sentence, split at its commas, as fit: the location in the paper is cut first.
std::string shortened(const std::string& sentence, size_t width) {
  if (sentence.size() <= width) return sentence;
  const size_t comma = sentence.rfind(',', width);
  return comma == std::string::npos ? sentence.substr(0, width) : sentence.substr(0, comma);
}

class Recipes : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("part", part_, "only recipes with this in their name, such as wt103", false);
    flags.flag("json", json_, "print JSON, with everything each recipe says");
  }

  void run() override {
    std::vector<spec::Recipe> recipes;
    for (const std::string& name : spec::recipe_names()) {
      if (name.find(part_) != std::string::npos) recipes.push_back(spec::load_recipe(name));
    }
    if (recipes.empty()) {
      throw part_.empty() ? system_error("there are no recipes; HEED_RECIPES may name another folder")
                          : usage_error("no recipe has '", part_, "' in its name; `heed recipes` lists all");
    }
    json_ ? print_json(recipes) : print_table(recipes);
  }

 private:
  static void print_json(const std::vector<spec::Recipe>& recipes) {
    Json list = Json::array();
    for (const spec::Recipe& recipe : recipes) {
      list.push_back(spec::to_json(recipe));
      list.back()["name"] = recipe.name;
    }
    std::printf("%s\n", list.dump(2).c_str());
  }

  static void print_table(const std::vector<spec::Recipe>& recipes) {
    std::vector<std::array<std::string, 4>> rows = {{"name", "size", "blocks", "published"}};
    for (const spec::Recipe& recipe : recipes) {
      rows.push_back({recipe.name, size_of(recipe.about), recipe.model.arch,
                      recipe.published.empty() ? "" : recipe.published.front()});
    }
    std::array<size_t, 3> widths = {};
    for (const auto& row : rows) {
      for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    const size_t used = widths[0] + widths[1] + widths[2] + 6;
    for (auto& row : rows) {
      std::string line;
      for (size_t i = 0; i < widths.size(); ++i)
        line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
      line += shortened(row[3], used < kColumns ? kColumns - used : 0);
      line.erase(line.find_last_not_of(' ') + 1);
      std::printf("%s\n", line.c_str());
    }
  }

  std::string part_;
  bool json_ = false;
};

}  // namespace

VerbEntry recipes_verb() {
  return entry<Recipes>("recipes", "Lists the recipes: published models and small ones to start with.",
                        {"heed recipes", "heed recipes wt103"});
}

}  // namespace heed::cli
