#include "heed/search/block_table.h"

#include <memory>
#include <set>

namespace heed::search {
namespace {

Json milliseconds(double seconds) { return seconds > 0 ? Json(1e3 * seconds) : Json(); }

}  // namespace

spec::Space by_block(spec::Space space) {
  space.layer.clear();
  for (const spec::Letter& row : spec::letters()) space.layer.emplace_back(1, row.letter);
  return space;
}

spec::Layer as_layer(const spec::Block& block) {
  const auto row = std::ranges::find(spec::letters(), block.letter, &spec::Letter::letter);
  return {row - spec::letters().begin(), block.sizes};
}

Json letters_json() {
  Json letters = Json::array();
  for (const spec::Letter& row : spec::letters()) {
    Json sizes = Json::array();
    for (const spec::Size& size : row.sizes) sizes.push_back({{"name", size.name}, {"title", size.title}});
    letters.push_back({{"letter", std::string(1, row.letter)},
                       {"name", row.name},
                       {"identity", row.identity},
                       {"sizes", sizes}});
  }
  return letters;
}

Json sizes_json(const spec::Block& block) {
  Json json = Json::object();
  for (const spec::Size& size : spec::letter_row(block.letter).sizes) json[size.name] = block[size.name];
  return json;
}

Json block_json(int64_t width, const spec::Block& block, const Cost& cost) {
  return {{"letter", std::string(1, block.letter)},
          {"width", width},
          {"sizes", sizes_json(block)},
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
      for (const spec::Block& block : space.blocks_of(layer)) {
        if (seen.insert(as_layer(block)).second)
          blocks.push_back(block_json(width, block, costs->of_layer(width, as_layer(block))));
      }
    }
  }
  for (const spec::Frame& frame : space.frames()) {
    if (!space.options(frame.width).empty()) frames.push_back(frame_json(frame, costs->of_frame(frame)));
  }
  return {{"blocks", blocks}, {"frames", frames}};
}

}  // namespace heed::search
