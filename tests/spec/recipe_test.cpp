// Recipes: every file in the folder, the published strings, and what is refused.
#include "heed/spec/recipe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "heed/spec/arch.h"
#include "heed/spec/design.h"
#include "heed/spec/space.h"
#include "tests/support/messages.h"

namespace heed::spec {
namespace {

TEST(Recipes, EveryFileLoads) {
  const std::vector<std::string> names = recipe_names();
  EXPECT_GE(names.size(), 130u);
  for (const std::string& name : names) {
    const Recipe recipe = load_recipe(name);
    EXPECT_EQ(recipe.name, name);
    EXPECT_TRUE(std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::islower(c) || std::isdigit(c) || c == '-';
    })) << name;
    EXPECT_NE(recipe.about.find(" parameters: "), std::string::npos) << name;
    const bool small = name.ends_with("-3m-bytes");
    EXPECT_EQ(recipe.published.empty(), small) << name << ": what the authors report";
    for (const std::string& sentence : recipe.published)
      EXPECT_NE(sentence.find(", "), std::string::npos) << name << ": no source in '" << sentence << "'";
    // An evaluation never sees fewer earlier tokens than training did.
    EXPECT_GE(recipe.evaluation.length + recipe.evaluation.memory, recipe.training.memory) << name;
    if (recipe.model.positions == Positions::kLearned) {
      EXPECT_EQ(recipe.training.memory, 0) << name;
      EXPECT_LE(std::max(recipe.training.length, recipe.evaluation.length), recipe.model.embedding.context)
          << name;
    }
    if (recipe.data.tokenizer == "bytes") {
      EXPECT_EQ(recipe.model.embedding.vocabulary, 256) << name;
    }
  }
}

TEST(Recipes, JsonGivesThemBack) {
  for (const std::string& name : recipe_names()) {
    const Json json = to_json(load_recipe(name));
    EXPECT_EQ(to_json(read_recipe(json, name)), json) << name;
  }
}

TEST(Recipes, HaveThePublishedStrings) {
  const std::pair<const char*, const char*> published[] = {
      {"par-24b-enwik8", "(sff)x5 (f)x9"},
      {"par-24b-text8", "(sff)x5 (f)x9"},
      {"par-base-wt103", "(sfff)x6 (f)x8"},
      {"par-base-wt103-s0", "(f)x32"},
      {"par-base-wt103-s1x4", "(sfff)x1 (f)x28"},
      {"par-base-wt103-s3x4", "(sfff)x3 (f)x20"},
      {"par-base-wt103-s4x4", "(sfff)x4 (f)x16"},
      {"par-base-wt103-s5x4", "(sfff)x5 (f)x12"},
      {"par-base-wt103-s6x3", "(sff)x6 (f)x14"},
      {"par-base-wt103-s7x3", "(sff)x7 (f)x11"},
      {"par-base-wt103-s7x4", "(sfff)x7 (f)x4"},
      {"par-large-wt103", "(sfff)x7 (f)x8"},
      {"sandwich-24b-enwik8", "(s)x5 (sf)x7 (f)x5"},
      {"sandwich-24b-enwik8-v1", "(s)x6 (sf)x6 (f)x6"},
      {"sandwich-24b-text8", "(s)x3 (sf)x9 (f)x3"},
      {"sandwich-24b-text8-v1", "(s)x6 (sf)x6 (f)x6"},
      {"sandwich-base-wt103", "(s)x6 (sf)x10 (f)x6"},
      {"sandwich-large-wt103", "(s)x6 (sf)x12 (f)x6"},
      {"srupp-102m-enwik8-every2", "(ra)x5"},
      {"srupp-102m-enwik8-last5", "(r)x5 (a)x5"},
      {"srupp-103m-enwik8-every3", "(rra)x3 (r)"},
      {"srupp-103m-enwik8-last3", "(r)x7 (a)x3"},
      {"srupp-104m-enwik8-ratio8", "(rrrra)x2"},
      {"srupp-108m-enwik8", "(a)x10"},
      {"srupp-108m-enwik8-ratio6", "(a)x10"},
      {"srupp-109m-enwik8-ratio10", "(a)x10"},
      {"srupp-109m-enwik8-ratio8", "(a)x10"},
      {"srupp-148m-wt103", "(a)x10"},
      {"srupp-191m-enwik8", "(a)x10"},
      {"srupp-195m-enwik8", "(a)x10"},
      {"srupp-225m-wt103", "(rrrra)x2"},
      {"srupp-232m-wt103", "(a)x10"},
      {"srupp-234m-wt103", "(a)x10"},
      {"srupp-328m-lm1b", "(a)x10"},
      {"srupp-42m-enwik8", "(a)x10"},
      {"srupp-465m-lm1b", "(rrrra)x2"},
      {"srupp-97m-enwik8", "(r)x9 (a)"},
      {"srupp-97m-enwik8-heads2", "(r)x9 (a)"},
      {"srupp-98m-enwik8", "(rrrra)x2"},
      {"srupp-98m-enwik8-heads2", "(rrrra)x2"},
      {"txl-24b-enwik8", "(sf)x12"},
      {"txl-24b-text8", "(sf)x12"},
      {"txl-base-lm1b", "(sf)x18"},
      {"txl-base-wt103", "(sf)x16"},
      {"txl-base-wt103-original", "(sf)x16"},
      {"txl-large-wt103", "(sf)x18"},
  };
  for (const auto& [name, arch] : published)
    EXPECT_EQ(load_recipe(name).model.letters(), parse_arch(arch)) << name;
}

TEST(Recipes, FollowTheirDesignRules) {
  const auto letters = [](const char* name) { return load_recipe(name).model.letters(); };
  EXPECT_EQ(letters("par-base-wt103"), parse_arch(design_par(32, 5, DesignRule::kPublished)));
  EXPECT_EQ(letters("par-large-wt103"), parse_arch(design_par(36, 5, DesignRule::kPublished)));
  EXPECT_EQ(letters("par-24b-enwik8"), parse_arch(design_par(24, 5, DesignRule::kPublished)));
  EXPECT_EQ(letters("par-3m-bytes"), parse_arch(design_par(7, 4, DesignRule::kStrict)));
  EXPECT_EQ(letters("sandwich-base-wt103"), parse_arch(design_sandwich(16, 6)));
  EXPECT_EQ(letters("sandwich-24b-enwik8"), parse_arch(design_sandwich(12, 5)));
  EXPECT_EQ(letters("sandwich-24b-text8"), parse_arch(design_sandwich(12, 3)));
  EXPECT_EQ(letters("sandwich-24b-text8-v1"), parse_arch(design_sandwich(12, 6)));
  EXPECT_EQ(letters("sandwich-3m-bytes"), parse_arch(design_sandwich(4, 1)));
  EXPECT_EQ(letters("srupp-98m-enwik8"), parse_arch(design_sru(10, 5)));
  EXPECT_EQ(letters("srupp-103m-enwik8-every3"), parse_arch(design_sru(10, 3)));
}

TEST(Recipes, OneValueIsAListOfOne) {
  const Recipe recipe = read_recipe(
      Json::parse(R"({"model": {"heads": 4, "inner": 64.0, "cutoffs": 100, "tie_projections": false}})"),
      "recipe");
  EXPECT_EQ(recipe.model.sizes["heads"], (std::vector<int64_t>{4}));
  EXPECT_EQ(recipe.model.sizes["inner"], (std::vector<int64_t>{64}));
  EXPECT_EQ(recipe.model.embedding.cutoffs, (std::vector<int64_t>{100}));
  EXPECT_EQ(recipe.model.head.tie_projections, std::vector<bool>{false});
}

// The settings of a published model that are easy to get wrong, read through the backbone's defaults.
TEST(Recipes, SettingsOfTheFamilies) {
  const Recipe base = load_recipe("par-base-wt103");
  EXPECT_EQ(base.model.width, 512);
  EXPECT_EQ(base.model.head_width(base.model.blocks()[0]), 64);
  EXPECT_EQ(base.model.norm, Norm::kPost);
  EXPECT_EQ(base.model.cluster_ends(), (std::vector<int64_t>{19997, 39997, 199997, 267735}));
  EXPECT_FALSE(base.model.projects(0));
  const Recipe large = load_recipe("txl-large-wt103");
  EXPECT_EQ(large.model.cluster_width(3), 16);
  EXPECT_TRUE(large.model.projects(0));
  EXPECT_FALSE(large.model.ties_projection(0));
  EXPECT_TRUE(large.model.ties_projection(3));
  const Recipe words = load_recipe("srupp-148m-wt103");
  EXPECT_EQ(words.model.table_width(), 1024);
  EXPECT_TRUE(words.model.head.tie_weights);
  EXPECT_EQ(words.evaluation.visible, Visible::kBand);
  EXPECT_FALSE(load_recipe("srupp-108m-enwik8").model.head.tie_weights);
  // One cluster, which projects all the same.
  const Recipe found = load_recipe("lts-gpt2-m01-lm1b");
  EXPECT_EQ(found.model.cluster_ends(), (std::vector<int64_t>{50264}));
  EXPECT_TRUE(found.model.projects(0));
  const Recipe first = load_recipe("lts-txl-m01-lm1b");
  EXPECT_EQ(first.model.sizes["inner"], (std::vector<int64_t>{896, 2816}));
  EXPECT_EQ(first.model.blocks()[1]["inner"], 896);
  EXPECT_EQ(first.model.blocks()[3]["inner"], 2816);
  EXPECT_FALSE(first.model.attention.shared_position_bias);
}

TEST(RecipeErrors, NamesThatDoNotExist) {
  EXPECT_SAYS(load_recipe("par-base-wt130"), "did you mean 'par-base-wt103'?");
  EXPECT_SAYS(load_recipe("x"), "`heed recipes` lists them");
  EXPECT_SAYS(load_recipe(""), "neither a file nor a recipe");
  EXPECT_SAYS(load_recipe("/"), "neither a file nor a recipe");
}

TEST(RecipeErrors, UnknownKeysNameTheNearest) {
  const auto read = [](const char* json) { read_recipe(Json::parse(json), "file"); };
  EXPECT_SAYS(read(R"({"model": {}, "trainig": {}})"), "unknown part 'trainig'; did you mean 'training'?");
  EXPECT_SAYS(read(R"({"model": {"widht": 3}})"),
              "file: model: unknown setting 'widht'; did you mean 'width'?");
  EXPECT_SAYS(read(R"({"model": {}, "training": {"lenght": 3}})"), "did you mean 'length'?");
  EXPECT_SAYS(read(R"({"model": {}, "evaluation": {"clmap": 3}})"), "did you mean 'clamp'?");
  EXPECT_SAYS(read(R"({"model": {}, "data": {"tokeniser": "bytes"}})"), "did you mean 'tokenizer'?");
  EXPECT_SAYS(read(R"({"model": {"backbone": "gpt3"}})"), "did you mean 'gpt2'?");
  EXPECT_SAYS(read(R"({"model": {"norm": "middle"}})"), "'middle' is not one of pre, post");
}

TEST(RecipeErrors, WrongShapesOfJson) {
  const auto read = [](const char* json) { read_recipe(Json::parse(json), "file"); };
  for (const char* json : {"{}", "[]", "3", "null", R"({"width": 512})"})
    EXPECT_SAYS(read(json), "a recipe is an object with at least \"model\"");
  EXPECT_SAYS(read(R"({"model": 3})"), "expected an object of settings, found number");
  EXPECT_SAYS(read(R"({"model": {"heads": "4"}})"), "'heads'");
  for (const char* heads : {"[1e300]", "[2.5]", "[-1e19]"}) {
    const std::string json = text(R"({"model": {"heads": )", heads, "}}");
    EXPECT_SAYS(read(json.c_str()), "it must be a whole number");
  }
  EXPECT_SAYS(read(R"({"model": {"width": "wide"}})"), "'width' (model width D) cannot be \"wide\"");
  EXPECT_SAYS(read(R"({"model": {}, "training": []})"), "expected an object of settings, found array");
  EXPECT_SAYS(read(R"({"model": {}})"), "\"model\" is empty; say at least what it is made of");
  EXPECT_SAYS(read(R"({"model": {}, "about": 3})"), "'about' must be text");
  EXPECT_SAYS(read(R"({"model": {}, "published": "22.7"})"), "'published'");
}

class RecipeFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("heed-recipes-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("HEED_RECIPES", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("HEED_RECIPES");
    std::filesystem::remove_all(folder_);
  }
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(RecipeFiles, AnotherFolderHoldsItsOwn) {
  write("mine.json", R"({"model": {"arch": "(sf)x2"}})");
  write("notes.txt", "no recipe");
  EXPECT_EQ(recipe_names(), std::vector<std::string>{"mine"});
  EXPECT_EQ(load_recipe("mine").model.letters(), "sfsf");
  EXPECT_SAYS(load_recipe("gpt2-124m"), "neither a file nor a recipe");
}

TEST_F(RecipeFiles, AnEmptyVariableNamesNoFolder) {
  setenv("HEED_RECIPES", "", 1);
  EXPECT_EQ(load_recipe("par-base-wt103").model.letters().size(), 32u);
  setenv("HEED_SPACES", "", 1);
  EXPECT_TRUE(std::filesystem::exists(spaces_folder() / "lts-txl.toml")) << spaces_folder();
  unsetenv("HEED_SPACES");
}

TEST_F(RecipeFiles, ASearchWhoseNameIsNoTextIsRefused) {
  write("config.json", R"({"space": 5, "space_says": {"model": {"backbone": "gpt2"}}})");
  EXPECT_SAYS(load_recipe(folder_.string() + ":768/0/1/50257 sf12:3072"), "'space' must be text");
}

TEST_F(RecipeFiles, DamagedFilesAreNamed) {
  EXPECT_SAYS(load_recipe(write("half.json", R"({"model": {"width": )")), "half.json: not JSON");
  EXPECT_SAYS(load_recipe(write("empty.json", "")), "empty.json: not JSON");
  EXPECT_SAYS(load_recipe(write("bytes.json", std::string("\0\xff\xfe", 3))), "bytes.json: not JSON");
  EXPECT_SAYS(load_recipe("half"), "half.json: not JSON");
  EXPECT_SAYS(load_recipe(write("large.json", R"({"model": {"width": 1e999}})")), "number overflow");
  EXPECT_SAYS(load_recipe(write("deep.json", R"({"model": {"width": )" + std::string(1000000, '['))),
              "more than 200 nested brackets");
}

}  // namespace
}  // namespace heed::spec
