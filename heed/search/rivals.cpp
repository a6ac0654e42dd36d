#include "heed/search/rivals.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/base/threads.h"
#include "heed/search/block_table.h"
#include "heed/spec/arch.h"
#include "heed/spec/design.h"

namespace heed::search {
namespace {

constexpr int64_t kMostBlocks = 64;
constexpr double kRoom = 1.02;          // rivals may take a little longer than what they are compared with
constexpr int64_t kInnerOverWidth = 4;  // as in Transformer-XL and PAR
constexpr int64_t kWidthOverProjection = 4;  // as in SRU++

int64_t pairs_of(int64_t blocks) {
  if (blocks % 2) throw usage_error("an odd number of blocks is not made of pairs");
  return blocks / 2;
}

// The value nearest to what is wanted.
int64_t nearest_value(const std::vector<int64_t>& values, int64_t wanted) {
  return *std::ranges::min_element(values, {}, [&](int64_t value) { return std::abs(value - wanted); });
}

class Scaling {
 public:
  Scaling(const spec::Space& space, int64_t vocabulary, const Limits& limits,
          const measure::DeviceProfile& profile, Valuation& valuation)
      : space_(space),
        apart_(by_block(space)),
        costs_(apart_, profile),
        vocabulary_(vocabulary),
        limits_(limits),
        valuation_(valuation) {}

  int64_t planned(const spec::ModelSpec& model) const { return costs_.planned(model).memory(); }

  std::optional<FoundModel> best_of(const Arrangement& arrangement) {
    std::optional<FoundModel> best;
    for (const int64_t width : space_.width) {
      for (int64_t blocks = 1; blocks <= kMostBlocks; ++blocks) {
        std::string letters;
        try {
          letters = arrangement.letters(blocks);
        } catch (const Error&) {
          continue;  // no such model of this many blocks
        }
        const auto model = scaled(arrangement.name, letters, width);
        if (!model) return std::nullopt;
        if (!limits_.admit(model->predicted.cost)) break;
        if (!best || model->predicted.score > best->predicted.score) best = model;
      }
    }
    return best;
  }

 private:
  // None if the space has no such blocks.
  std::optional<FoundModel> scaled(const char* name, const std::string& letters, int64_t width) {
    spec::ModelSpec model = space_.model_of({{width, 0, 1, vocabulary_}, {}});
    model.arch = letters;
    for (const spec::Size& size : spec::sizes()) {
      const std::vector<int64_t>& values = space_.sizes[size.name];
      model.sizes[size.name] = {nearest_value(values, wanted(size, width))};
    }
    FoundModel found{name, {{{width, 0, 1, vocabulary_}, {}}, {}, 0}, model, 0, {}, 0, {}};
    Cost& cost = found.predicted.cost;
    cost = costs_.of_frame(found.predicted.candidate.frame);
    const std::vector<spec::Layer> options = space_.options(width);
    for (const spec::Block& block : model.blocks()) {
      if (!has(options, block)) return std::nullopt;
      cost += costs_.of_layer(width, as_layer(block));
    }
    found.predicted.score = valuation_.score(model);
    return found;
  }

  bool has(const std::vector<spec::Layer>& options, const spec::Block& block) const {
    return std::ranges::any_of(options, [&](const spec::Layer& layer) {
      return std::ranges::count(space_.blocks_of(layer), block) > 0;
    });
  }

  // Sizes as published; the largest number of heads.
  static int64_t wanted(const spec::Size& size, int64_t width) {
    if (size.grows_with_width) return kInnerOverWidth * width;
    if (size.divides_width) return INT64_MAX / 2;
    return width / kWidthOverProjection;
  }

  const spec::Space& space_;
  spec::Space apart_;
  ProfiledCosts costs_;
  int64_t vocabulary_;
  Limits limits_;
  Valuation& valuation_;
};

}  // namespace

const std::vector<Arrangement>& arrangements() {
  static const std::vector<Arrangement> list = {
      {"interleaved", [](int64_t blocks) { return spec::design_sandwich(pairs_of(blocks), 0); }},
      {"sandwich",
       [](int64_t blocks) {
         // The best of its paper: 6 of 16 pairs.
         const int64_t pairs = pairs_of(blocks);
         return spec::design_sandwich(pairs, std::max<int64_t>(1, (6 * pairs + 8) / 16));
       }},
      {"par-3", [](int64_t blocks) { return spec::design_par(blocks, 3, DesignRule::kStrict); }},
      {"par-5", [](int64_t blocks) { return spec::design_par(blocks, 5, DesignRule::kStrict); }},
      {"sru++-1", [](int64_t blocks) { return spec::design_sru(blocks, 1); }},
      {"sru++-5",
       [](int64_t blocks) {
         if (blocks < 5) throw usage_error("with fewer than 5 layers none attends");
         return spec::design_sru(blocks, 5);
       }},
      {"sru", [](int64_t blocks) { return spec::design_sru(blocks, 0); }}};
  return list;
}

std::vector<FoundModel> scaled_rivals(const spec::Space& space, int64_t vocabulary, const Limits& limits,
                                      const measure::DeviceProfile& profile, Valuation& valuation) {
  Scaling scaling(space, vocabulary, limits, profile, valuation);
  std::vector<FoundModel> rivals;
  for (const Arrangement& arrangement : arrangements()) {
    if (std::optional<FoundModel> best = scaling.best_of(arrangement)) {
      best->planned = scaling.planned(best->model);
      rivals.push_back(*std::move(best));
    }
  }
  return rivals;
}

void compare(const MeasuringTools& tools, const measure::DeviceProfile& profile, SearchResult& result) {
  const SearchRequest& request = tools.request;
  FoundModel* pick = result.recommended();
  if (!pick) return;
  Limits limits = request.limits;
  limits.of(request.objective) = kRoom * time_of(pick->predicted.cost, request.objective);
  result.rivals = scaled_rivals(request.space, pick->predicted.candidate.frame.vocabulary, limits, profile,
                                *tools.valuation);
  std::vector<FoundModel*> all;
  for (FoundModel& rival : result.rivals) all.push_back(&rival);
  measure_whole(tools, all);
  all.insert(all.begin(), pick);
  const spec::TrainingSpec& training = request.space.training;
  std::vector<ShortTraining> models;
  for (const FoundModel* model : all) {
    ShortTraining& next = models.emplace_back();
    next.name = model->name;
    next.recipe = model == pick ? request.space.recipe_of(pick->predicted.candidate)
                                : baseline_recipe(request.space, model->name, model->model);
    next.work = training_flops(model->predicted.cost.total, tokens_of(training));
    next.stop_after =
        pick->trained.empty() ? training.steps : pick->trained.back().tokens / tokens_per_update(training);
  }
  const auto train = [&](std::vector<ShortTraining>& some, const auto& wants) {
    train_shortly(some, request.sample.data, finalists_folder(request.folder), request.record, wants,
                  tools.observer);
  };
  // The pick was trained within another's time, and tells how long the others take.
  std::vector<ShortTraining> pick_alone = {models.front()};
  train(pick_alone, nullptr);
  models.front() = pick_alone.front();
  const double pace = pick_alone.front().seconds / pick_alone.front().work;
  const auto affordable = [&](const ShortTraining& next) {
    double seconds = 0;
    for (const ShortTraining& model : models) {
      if (!model.moments.empty() && model.name != pick->name) seconds += model.seconds;
    }
    return next.name == pick->name || seconds / thread_count() + next.work * pace <= request.compare;
  };
  train(models, affordable);
  for (size_t i = 0; i < all.size(); ++i) all[i]->trained = models[i].moments;
}

}  // namespace heed::search
