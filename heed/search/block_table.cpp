#include "heed/search/block_table.h"

#include <memory>
#include <set>

namespace heed::search {
namespace {

constexpr std::string_view kLetters = "sfrai";

Json number(int64_t value) { return value > 0 ? Json(value) : Json(); }
Json milliseconds(double seconds) { return seconds > 0 ? Json(1e3 * seconds) : Json(); }

}  // namespace

spec::Space by_block(spec::Space space) {
  space.layer.clear();
  for (const char letter : kLetters) space.layer.emplace_back(1, letter);
  return space;
}

std::vector<spec::Layer> blocks_of(const spec::Space& space, const spec::Layer& layer) {
  std::vector<spec::Layer> blocks;
  for (const char letter : space.layer.at(static_cast<size_t>(layer.kind))) {
    const bool recurs = letter == 'r' || letter == 'a';
    blocks.push_back({static_cast<int64_t>(kLetters.find(letter)), letter == 's' ? layer.heads : 0,
                      letter == 'f' ? layer.inner : 0, recurs ? layer.projection : 0});
  }
  return blocks;
}

Json block_json(int64_t width, const spec::Layer& block, const Cost& cost) {
  return {{"letter", std::string(1, kLetters.at(static_cast<size_t>(block.kind)))},
          {"width", width},
          {"heads", number(block.heads)},
          {"inner", number(block.inner)},
          {"projection", number(block.projection)},
          {"parameters", cost.total},
          {"bytes", cost.resident},
          {"ms", milliseconds(cost.latency)}};
}

Json frame_json(const spec::Frame& frame, const Cost& cost) {
  return {{"width", frame.width},
          {"embedding_width", frame.embedding_width ? frame.embedding_width : frame.width},
          {"division", frame.division},
          {"vocabulary", frame.vocabulary},
          {"parameters", cost.total},
          {"bytes", cost.resident},
          {"ms", milliseconds(cost.latency)}};
}

Json block_table(const spec::Space& space, const measure::DeviceProfile* profile) {
  const spec::Space apart = by_block(space);
  std::unique_ptr<Costs> costs = std::make_unique<GraphCosts>(apart);
  if (profile) costs = std::make_unique<ProfiledCosts>(apart, *profile);
  Json blocks = Json::array(), frames = Json::array();
  for (const int64_t width : space.width) {
    std::set<spec::Layer> seen;
    for (const spec::Layer& layer : space.options(width)) {
      for (const spec::Layer& block : blocks_of(space, layer)) {
        if (seen.insert(block).second)
          blocks.push_back(block_json(width, block, costs->of_layer(width, block)));
      }
    }
  }
  for (const spec::Frame& frame : space.frames()) {
    if (!space.options(frame.width).empty()) frames.push_back(frame_json(frame, costs->of_frame(frame)));
  }
  return {{"blocks", blocks}, {"frames", frames}};
}

}  // namespace heed::search
