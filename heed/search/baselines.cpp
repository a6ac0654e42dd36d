#include "heed/search/baselines.h"

namespace heed::search {

std::vector<Baseline> baselines(const spec::Space& space) {
  const spec::Backbone& backbone = spec::backbones().find(space.model.backbone);
  const spec::ModelSpec usual = backbone.settings();
  std::vector<Baseline> all;
  for (const int64_t layers : backbone.baseline_layers) {
    spec::ModelSpec model = space.model;
    model.arch = text("(sf)x", layers);
    model.width = usual.width;
    model.sizes["heads"] = usual.sizes["heads"];
    model.sizes["inner"] = usual.sizes["inner"];
    model.embedding.width = 0;
    model.embedding.division = 1;
    model.embedding.vocabulary = space.vocabulary.front();
    all.push_back({text(backbone.name, "-", layers, "-layers"), model});
  }
  return all;
}

}  // namespace heed::search
