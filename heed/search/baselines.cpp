#include "heed/search/baselines.h"

namespace heed::search {

std::vector<Baseline> baselines(const spec::Space& space) {
  const bool gpt2 = space.model.backbone == "gpt2";
  if (!gpt2 && space.model.backbone != "transformer-xl") return {};
  std::vector<Baseline> all;
  const std::vector<int64_t> depths = gpt2 ? std::vector<int64_t>{3, 6, 12} : std::vector<int64_t>{4, 8, 16};
  for (const int64_t layers : depths) {
    spec::ModelSpec model = space.model;
    model.arch = text("(sf)x", layers);
    model.width = gpt2 ? 768 : 512;
    model.sizes["heads"] = {gpt2 ? 12 : 8};
    model.sizes["inner"] = {gpt2 ? 3072 : 2048};
    model.embedding.width = 0;
    model.embedding.division = 1;
    model.embedding.vocabulary = space.vocabulary.front();
    all.push_back({text(gpt2 ? "gpt2-" : "transformer-xl-", layers, "-layers"), model});
  }
  return all;
}

}  // namespace heed::search
