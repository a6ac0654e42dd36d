// Published ways to arrange blocks, each scaled to the latency of the recommended model, measured and trained
// as it was: what a search gains.
#pragma once

#include "heed/search/finalists.h"
#include "heed/search/frontier_measurer.h"

namespace heed::search {

struct Arrangement {
  const char* name;
  // The letters of a model with this many blocks. Throws if there is none.
  std::string (*letters)(int64_t blocks);
};
// Interleaved, Sandwich, PAR and SRU++ with more and less attention. A new one adds one line.
const std::vector<Arrangement>& arrangements();

// For each arrangement the model that the law predicts to be best among those of the space's widths and sizes
// within these limits, in a frame of this vocabulary; none for letters that the space does not have.
std::vector<FoundModel> scaled_rivals(const spec::Space& space, int64_t vocabulary, const Limits& limits,
                                      const measure::DeviceProfile& profile, Valuation& valuation);

// Fills result.rivals: measured, and trained on the text for as long as the recommended model, which is
// trained first if it was not, as many of them as `request.compare` allows.
void compare(const MeasuringTools& tools, const measure::DeviceProfile& profile, SearchResult& result);

}  // namespace heed::search
