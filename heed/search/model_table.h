// A table of trained models: one row each, with the columns of LiteTransformerSearch's published results
// (docs/search.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/csv.h"
#include "heed/model/model.h"
#include "heed/spec/recipe.h"

namespace heed::search {

// Sizes as the table states them; those it leaves out are empty.
struct StatedSizes {
  std::optional<int64_t> attention, feed_forward, decoder, embedding, total;
};

struct TableRow {
  std::string id;
  spec::Recipe recipe;  // the model, and how a score that trains would
  int64_t length = 0;   // tokens of a segment
  StatedSizes stated;
  std::optional<double> perplexity, latency;
};

// The model of a row with a column `spec`. Errors name the line.
spec::ModelSpec model_in_row(const Csv& csv, size_t row);

// backbone: of rows that do not state one; "" to infer it from their attn_params. Errors name line and
// column.
std::vector<TableRow> read_model_table(const std::filesystem::path& path, const std::string& backbone);

// One size that differs from the table's.
struct Mismatch {
  std::string id, column;
  int64_t stated, counted;
};
// Counts every model again and compares.
std::vector<Mismatch> mismatches(const std::vector<TableRow>& rows);

}  // namespace heed::search
