#include "heed/search/supernet/block_times.h"

#include "heed/measure/device.h"

namespace heed::search {

BlockTimes block_times(const spec::Recipe& recipe, const std::string& letters,
                       const std::filesystem::path& path,
                       const std::function<void(const ProfileProgress&)>& progress) {
  // One letter per layer, and nothing else to choose.
  spec::Space space;
  space.model = interleaved_of(recipe.model, 2);
  space.length = recipe.training.length;
  space.layer.clear();
  for (const char letter : letters) space.layer.emplace_back(1, letter);
  space.layers = {1};
  space.width = {space.model.width};
  space.sizes = space.model.sizes;
  space.embedding_width = {space.model.embedding.width};
  space.division = {space.model.embedding.division};
  space.vocabulary = {space.model.embedding.vocabulary};
  const store::Database database(path);
  measure::DeviceProfile profile(database, measure::this_device());
  fill_profile(space, profile, progress);
  ProfiledCosts costs(space, profile);
  BlockTimes times{costs.of_frame(space.frames().at(0)).latency, std::vector<double>(letters.size())};
  for (const spec::Layer& layer : space.options(space.model.width))
    times.blocks[static_cast<size_t>(layer.kind)] = costs.of_layer(space.model.width, layer).latency;
  return times;
}

}  // namespace heed::search
