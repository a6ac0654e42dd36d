#include "heed/report/worth_json.h"

#include "heed/search/block_table.h"
#include "heed/search/worth/one_more_block.h"

namespace heed::report {

Json moments_json(const Json& stored) {
  Json moments = {{"tokens", Json::array()}, {"bits_per_byte", Json::array()}};
  for (const Json& moment : stored) {
    for (auto& [name, list] : moments.items()) list.push_back(moment.at(name));
  }
  return moments;
}

Json rates_json(const std::string& base, const spec::ModelSpec& model, const spec::Space& space,
                const search::Law& law, double tokens) {
  const search::OneMoreBlocks rates = search::one_more_of_each(space, law, tokens, model);
  Json blocks = Json::array();
  for (const search::OneMoreBlock& more : rates.blocks)
    blocks.push_back({{"letter", std::string(1, more.block.letter)},
                      {"width", model.width},
                      {"sizes", search::sizes_json(more.block)},
                      {"parameters", more.parameters},
                      {"bits", more.bits},
                      {"piece", search::block_key(space, model.width, more.block, false)},
                      {"ms", Json()}});
  return {{"base", base},     {"arch", model.arch},           {"width", model.width},
          {"tokens", tokens}, {"predicted", rates.predicted}, {"blocks", blocks}};
}

}  // namespace heed::report
