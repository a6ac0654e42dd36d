// A task whose answer is known: the next letter is the sixth before it, changed letter by letter. It needs
// one look back, early, and then work that each place does for itself. (A model with attention in its last
// block only does not learn it: what was seen must still be changed.)
#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/search/supernet/supernet_run.h"

namespace heed::search {
namespace {

constexpr int64_t kSeeds = 10;

std::string task_text() {
  constexpr int64_t kLetters = 16, kLag = 6;
  Rng rng(1);
  std::vector<int64_t> changed;
  for (int64_t i = 0; i < kLetters; ++i) changed.push_back(i);
  for (size_t i = changed.size() - 1; i > 0; --i)
    std::swap(changed[i], changed[static_cast<size_t>(rng.below(static_cast<int64_t>(i) + 1))]);
  std::string all;
  while (all.size() < 300000) {
    // Three of ten are drawn, or all would follow from the first.
    const bool drawn = all.size() < kLag || rng.below(10) < 3;
    all += static_cast<char>(
        'a' + (drawn ? rng.below(kLetters) : changed[static_cast<size_t>(all[all.size() - kLag] - 'a')]));
  }
  return all;
}

spec::Recipe task_recipe() {
  spec::Recipe recipe;
  recipe.model = spec::backbones().find("transformer-xl").settings();
  recipe.model.arch = "(sf)x3";
  recipe.model.width = 16, recipe.model.sizes["heads"] = {2}, recipe.model.sizes["inner"] = {128},
  recipe.model.dropout = 0;
  recipe.model.norm = Norm::kPre, recipe.model.final_norm = true;
  recipe.training.batch = 16, recipe.training.length = 32, recipe.training.memory = 16;
  recipe.training.warmup = 20, recipe.training.clip = 0.25, recipe.training.schedule = "constant";
  return recipe;
}

class Silent : public SupernetObserver {
 public:
  void note(const std::string&) override {}
  void profiling(const ProfileProgress&) override {}
  void step(const SupernetReport&) override {}
  bool stop() override { return false; }
};

TEST(SupernetTask, OneEarlyAttentionBlockIsFoundAndNoOther) {
  set_thread_count(1);  // the same sums everywhere
  const TemporaryFolder folder;
  std::ofstream(folder / "text.txt") << task_text();
  SupernetRequest request;
  request.recipe = task_recipe();
  // The text is small: turns are short, and the choice cools over the whole of the search.
  request.settings.steps = 2000, request.settings.cycle = 10, request.settings.theta_share = 0.5;
  request.settings.theta_rate = 0.05, request.settings.unchanged = 0;
  request.settings.temperature = 2, request.settings.final_temperature = 0.3;
  request.seeds = kSeeds;
  request.data = folder / "text.txt";
  request.folder = folder / "run";
  Silent observer;
  int64_t right = 0;
  std::string strings;
  for (const SeedResult& seed : run_supernet(request, observer).seeds) {
    const std::string string = seed.choice.by_layer();
    strings += string + " ";
    // In the first third of the six layers, and nowhere else.
    right += string.find('s') < 2 && std::ranges::count(string, 's') == 1;
  }
  std::printf("found: %s\n", strings.c_str());
  EXPECT_GE(right, kSeeds - kSeeds / 10) << strings;
}

}  // namespace
}  // namespace heed::search
