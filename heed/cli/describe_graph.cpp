#include "heed/cli/describe_graph.h"

#include <cstdio>

#include "heed/graph/listing.h"
#include "heed/model/model.h"

namespace heed::cli {

void describe_graph(const spec::ModelSpec& spec, int64_t batch, int64_t length, int64_t memory, bool json) {
  graph::Graph graph;
  const model::GraphForm form =
      model::recomputing_form({batch, length, memory}, model::GraphEnd::kScores, model::WeightForm::kPlain);
  graph.mark_output(model::build(graph, spec, form).scores);
  graph.tidy();
  const std::vector<spec::Block> blocks = spec.blocks();
  const auto section_name = [&](int section) {
    if (section == model::kFrameSection) return std::string("frame");
    return text("block ", section - 1, " (", blocks[static_cast<size_t>(section) - 1].letter, ")");
  };
  const graph::Listing listing = graph::list(graph);
  if (json) {
    std::printf("%s\n", to_json(listing, section_name).dump(2).c_str());
  } else {
    std::fputs(to_text(listing, section_name).c_str(), stdout);
  }
}

}  // namespace heed::cli
