#include "heed/search/model_table.h"

#include "heed/base/csv.h"
#include "heed/base/files.h"
#include "heed/base/json.h"

namespace heed::search {
namespace {

constexpr const char* kNeeded[] = {"n_layer", "d_model", "n_head", "d_inner", "n_token"};
constexpr int64_t kMostLayers = 2048, kMostWidth = 1 << 24, kMostLength = 1 << 24;
constexpr int64_t kLength = 192;  // of tables that do not state one

// A JSON list in a cell, or one value for all.
template <class Value>
std::vector<Value> list(const Csv& csv, size_t row, const std::string& column) {
  const std::string& cell = csv.at(row, column);
  try {
    const Json json = parse_json(cell);
    std::vector<Value> values;
    fields_detail::read(json.is_array() ? json : Json::array({json}), values);
    return values;
  } catch (const std::exception&) {
    throw usage_error(csv.place(row), ": ", column, " is '", cell, "'; it must be a list such as [8, 8, 4]");
  }
}

std::vector<int64_t> per_layer(const Csv& csv, size_t row, const std::string& column, int64_t layers) {
  std::vector<int64_t> values = list<int64_t>(csv, row, column);
  if (values.size() != 1 && static_cast<int64_t>(values.size()) != layers)
    throw usage_error(csv.place(row), ": ", column, " has ", values.size(), " entries for ", layers,
                      " layers; give one number or one per layer");
  return values;
}

std::optional<int64_t> stated(const Csv& csv, size_t row, const std::string& column) {
  if (csv.at(row, column).empty()) return std::nullopt;
  return csv.integer(row, column);
}

std::optional<double> measured(const Csv& csv, size_t row, const std::string& column) {
  if (csv.at(row, column).empty()) return std::nullopt;
  const double value = csv.number(row, column);
  if (!(value > 0)) throw usage_error(csv.place(row), ": ", column, " is ", value, "; it must be positive");
  return value;
}

// Layers of Transformer-XL project distances too, and have no biases.
std::string backbone_of(const Csv& csv, size_t row, const std::string& given, int64_t layers, int64_t width) {
  if (!csv.at(row, "backbone").empty()) return csv.at(row, "backbone");
  if (!given.empty()) return given;
  const auto attention = stated(csv, row, "attn_params");
  if (attention == layers * (5 * width * width + 2 * width)) return "transformer-xl";
  if (attention == layers * (4 * width * width + 4 * width)) return "gpt2";
  throw usage_error(csv.place(row), ": attn_params is ", attention ? text(*attention) : "missing",
                    ", which fits neither gpt2 nor transformer-xl; add a column backbone, or --backbone");
}

// As the published models are built: those of one backbone differ in the columns only.
spec::ModelSpec model_of(const Csv& csv, size_t row, const std::string& given) {
  if (csv.has("spec")) return model_in_row(csv, row);
  const int64_t layers = csv.integer(row, "n_layer"), width = csv.integer(row, "d_model");
  if (layers < 1 || layers > kMostLayers)
    throw usage_error(csv.place(row), ": n_layer is ", layers, "; it must be from 1 to ", kMostLayers);
  if (width < 1 || width > kMostWidth)
    throw usage_error(csv.place(row), ": d_model is ", width, "; it must be from 1 to ", kMostWidth);
  const std::string backbone = backbone_of(csv, row, given, layers, width);
  spec::ModelSpec model = spec::backbones().find(backbone).settings();
  model.arch = text("(sf)x", layers);
  model.width = width;
  model.sizes["heads"] = per_layer(csv, row, "n_head", layers);
  model.sizes["inner"] = per_layer(csv, row, "d_inner", layers);
  model.embedding.vocabulary = csv.integer(row, "n_token");
  if (const auto length = stated(csv, row, "tgt_len")) model.embedding.context = *length;
  const int64_t embedding = stated(csv, row, "d_embed").value_or(-1);  // -1: as d_model
  model.embedding.width = embedding == -1 || embedding == width ? 0 : embedding;
  model.embedding.division = stated(csv, row, "div_val").value_or(1);
  model.attention.shared_position_bias = false;
  model.embedding.scale = model.head.bias = true;
  // The list ends where it exceeds the vocabulary; later entries are ignored.
  if (!csv.at(row, "cutoffs").empty()) {
    for (const int64_t end : list<int64_t>(csv, row, "cutoffs")) {
      if (end >= model.embedding.vocabulary) break;
      model.embedding.cutoffs.push_back(end);
    }
  }
  if (!csv.at(row, "tie_projs").empty()) model.head.tie_projections = list<bool>(csv, row, "tie_projs");
  try {
    validate(model);
  } catch (const Error& error) {
    throw usage_error(csv.place(row), ": ", error.what());
  }
  return model;
}

// Tables do not say how models were trained: a score that trains uses settings that work for all of them.
spec::Recipe recipe_of(spec::ModelSpec model, int64_t length) {
  spec::Recipe recipe;
  recipe.data.tokenizer =
      model.embedding.vocabulary <= 256 ? "bytes" : spec::backbones().find(model.backbone).tokenizer;
  recipe.data.vocabulary = model.embedding.vocabulary <= 256 ? 0 : model.embedding.vocabulary;
  recipe.training.length = length;
  recipe.training.batch = 16;
  recipe.training.clip = 0.25;
  recipe.model = std::move(model);
  return recipe;
}

void check_columns(const Csv& csv, const std::string& what) {
  if (csv.has("spec")) return;
  for (const std::string column : kNeeded) {
    if (csv.has(column)) continue;
    const std::string guess = nearest(column, csv.columns());
    throw usage_error(what, " has no column ", column, guess.empty() ? "" : " (is '" + guess + "' meant?)",
                      "; a table of models needs n_layer, d_model, n_head, d_inner and n_token, or spec");
  }
}

}  // namespace

spec::ModelSpec model_in_row(const Csv& csv, size_t row) {
  const std::string what = csv.place(row) + ": spec";
  Json json;
  try {
    json = parse_json(csv.at(row, "spec"));
  } catch (const Error& error) {
    throw usage_error(what, " is ", error.what());
  }
  return spec::read_model_spec(json, what);
}

std::vector<TableRow> read_model_table(const std::filesystem::path& path, const std::string& backbone) {
  const MappedFile file(path);
  const Csv csv(file.text(), path.string());
  check_columns(csv, path.string());
  std::vector<TableRow> rows;
  for (size_t i = 0; i < csv.rows(); ++i) {
    TableRow row;
    row.id = csv.at(i, "id").empty() ? text("row ", i + 1) : csv.at(i, "id");
    row.length = stated(csv, i, "tgt_len").value_or(kLength);
    if (row.length < 1 || row.length > kMostLength)
      throw usage_error(csv.place(i), ": tgt_len is ", row.length, "; it must be from 1 to ", kMostLength);
    row.recipe = recipe_of(model_of(csv, i, backbone), row.length);
    row.stated = {stated(csv, i, "attn_params"), stated(csv, i, "ffn_params"),
                  stated(csv, i, "nonembedding_params"), stated(csv, i, "embedding_params"),
                  stated(csv, i, "total_params")};
    row.perplexity = measured(csv, i, "valid_ppl");
    row.latency = measured(csv, i, "latency");
    rows.push_back(std::move(row));
  }
  if (rows.empty()) throw usage_error(path.string(), " has no rows below its first line");
  return rows;
}

std::vector<Mismatch> mismatches(const std::vector<TableRow>& rows) {
  std::vector<Mismatch> found;
  for (const TableRow& row : rows) {
    const model::ParameterCount count = model::count_parameters(row.recipe.model);
    const auto compare = [&](const char* column, std::optional<int64_t> stated, int64_t counted) {
      if (stated && *stated != counted) found.push_back({row.id, column, *stated, counted});
    };
    compare("attn_params", row.stated.attention, count.groups.at(WeightGroup::kAttention));
    compare("ffn_params", row.stated.feed_forward, count.groups.at(WeightGroup::kFeedForward));
    compare("nonembedding_params", row.stated.decoder, count.decoder);
    compare("embedding_params", row.stated.embedding, count.groups.at(WeightGroup::kEmbedding));
    compare("total_params", row.stated.total, count.total);
  }
  return found;
}

}  // namespace heed::search
