// Models handed to tests/oracle/letters.py and what builds on it: settings, weights and tokens as its cases
// have them.
#pragma once

#include <filesystem>
#include <fstream>

#include "heed/model/model.h"

namespace heed::test {

class NumbersFile {
 public:
  explicit NumbersFile(const std::filesystem::path& path) : file_(path, std::ios::binary) {}

  // Where the numbers lie, as a case names them; 4 bytes each.
  Json write(const void* data, const Shape& shape, const char* dtype) {
    Json dims = Json::array();
    for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
    const Json at = {{"dtype", dtype}, {"shape", dims}, {"offset", offset_}};
    file_.write(static_cast<const char*>(data), 4 * shape.elements());
    offset_ += 4 * shape.elements();
    return at;
  }
  Json write(const model::Weights& weights, const model::Source& source) {
    Json parameters = Json::object();
    for (const auto& [name, weight] : weights.plain) {
      std::vector<float> values(static_cast<size_t>(weight.shape.elements()));
      source(name, {values.data(), {weight.shape}});
      parameters[name] = write(values.data(), weight.shape, "f32");
    }
    return parameters;
  }
  void close() { file_.close(); }

 private:
  std::ofstream file_;
  int64_t offset_ = 0;
};

// Of the model alone; first weights mean nothing there.
inline Json letters_settings(const spec::ModelSpec& spec) {
  Json settings = to_json(spec);
  for (const char* unknown : {"initialisation", "deviation", "dropout_everywhere"}) settings.erase(unknown);
  settings["cluster_order"] = "reverse";
  return settings;
}

}  // namespace heed::test
