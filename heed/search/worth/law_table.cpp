#include "heed/search/worth/law_table.h"

#include "heed/base/files.h"
#include "heed/search/model_table.h"
#include "heed/search/worth/valuation.h"

namespace heed::search {

std::string law_table(const std::vector<ShortTraining>& models, const std::string& text_name) {
  std::string csv = "text,model,tokens,bits_per_byte,last,seconds,spec\n";
  for (const ShortTraining& model : models) {
    for (const Moment& moment : model.moments)
      csv += csv_cell(text_name) + "," + csv_cell(model.name) +
             text(",", moment.tokens, ",", moment.bits_per_byte, ",",
                  &moment == &model.moments.back() ? 1 : 0, ",", model.seconds, ",") +
             csv_cell(heed::to_json(model.recipe.model).dump()) + "\n";
  }
  return csv;
}

std::vector<LawModel> read_law_table(const std::filesystem::path& path, const spec::Space& space) {
  const MappedFile file(path);
  const Csv csv(file.text(), path.string());
  BlockSizes sizes(space);
  std::vector<LawModel> models;
  for (const char* column : {"text", "model", "tokens", "bits_per_byte", "last", "spec"}) {
    if (!csv.has(column))
      throw usage_error(path.string(), ": column ", column,
                        " is missing; give a models.csv that `heed worth` wrote");
  }
  for (size_t row = 0; row < csv.rows(); ++row) {
    if (csv.integer(row, "last") == 0) continue;
    const spec::ModelSpec model = model_in_row(csv, row);
    models.push_back({csv.at(row, "model"), csv.at(row, "text"), model.width, model.embedding.vocabulary,
                      sizes.of(model.width, model.blocks()), csv.number(row, "tokens"),
                      csv.number(row, "bits_per_byte")});
  }
  return models;
}

}  // namespace heed::search
