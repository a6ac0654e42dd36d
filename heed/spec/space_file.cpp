// Reads spaces from TOML files and refuses those without valid models.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "heed/base/toml.h"
#include "heed/spec/arch.h"
#include "heed/spec/shared_folder.h"
#include "heed/spec/space.h"

namespace heed::spec {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostValues = 4096;  // of one gene; far above any real space
constexpr int64_t kMostLayers = 1024;
constexpr double kMostTried = 1 << 16, kMostOptions = 1 << 22;

int64_t whole(const Json& json, const std::string& what) {
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX))
    throw usage_error(what, " must be a whole number, it is ", json.dump());
  return json.get<int64_t>();
}

// 8, [2, 4, 8], or {from = 128, to = 1024, step = 64}, both ends included.
std::vector<int64_t> values_of(const Json& json, const std::string& what, int64_t least) {
  std::vector<int64_t> values;
  if (json.is_array()) {
    for (const Json& value : json) values.push_back(whole(value, what));
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (key != "from" && key != "to" && key != "step")
        throw usage_error(what, ": unknown key '", key, "'; a range has from, to and step");
    }
    if (!json.contains("from") || !json.contains("to"))
      throw usage_error(what, ": a range needs from and to");
    const int64_t from = whole(json["from"], what + ": from"), to = whole(json["to"], what + ": to"),
                  step = json.contains("step") ? whole(json["step"], what + ": step") : 1;
    if (from < 0 || step < 1 || to < from || (to - from) / step >= kMostValues)
      throw usage_error(what, ": from ", from, " to ", to, " by ", step, " is not a range of 1 to ",
                        kMostValues, " values");
    for (int64_t i = 0; i <= (to - from) / step; ++i) values.push_back(from + i * step);
  } else {
    values.push_back(whole(json, what));
  }
  if (values.empty()) throw usage_error(what, " has no values");
  for (const int64_t value : values) {
    if (value < least) throw usage_error(what, ": ", value, " is less than ", least);
  }
  if (std::set<int64_t>(values.begin(), values.end()).size() != values.size())
    throw usage_error(what, " names a value twice");
  return values;
}

// The keys of each table in a file; each is named once.
struct Reader {
  const Json& json;
  std::string what;
  std::set<std::string> known = {};

  const Json* find(const std::string& key) {
    known.insert(key);
    return json.contains(key) ? &json.at(key) : nullptr;
  }
  void values(const std::string& key, std::vector<int64_t>& into, int64_t least) {
    if (const Json* found = find(key)) into = values_of(*found, what + ": " + key, least);
  }
  void check_unknown() const {
    for (const auto& [key, value] : json.items()) {
      if (known.contains(key)) continue;
      const std::string guess = nearest(key, {known.begin(), known.end()});
      throw usage_error(what, ": unknown key '", key, "'",
                        guess.empty() ? "" : "; did you mean '" + guess + "'?");
    }
  }
};

Json object_at(const Json& json, const char* key, const std::string& what) {
  const Json part = json.value(key, Json::object());
  if (!part.is_object()) throw usage_error(what, ": ", key, " must be a table");
  return part;
}

void read_genes(const Json& json, const std::string& what, Space& space) {
  Reader read{json, what};
  if (const Json* kinds = read.find("layer")) {
    if (!kinds->is_array() || kinds->empty())
      throw usage_error(what, ": layer must be a list of letters such as [\"sf\", \"f\"]");
    space.layer.clear();
    for (const Json& kind : *kinds) {
      if (!kind.is_string()) throw usage_error(what, ": layer: ", kind.dump(), " is not text");
      space.layer.push_back(parse_arch(kind.get<std::string>()));
    }
  }
  read.values("layers", space.layers, 1);
  read.values("width", space.width, 1);
  for (const Size& size : sizes()) read.values(size.name, space.sizes[size.name], 1);
  read.values("embedding_width", space.embedding_width, 0);
  read.values("division", space.division, 1);
  read.values("vocabulary", space.vocabulary, 1);
  read.check_unknown();
}

void read_limits(const Json& json, const std::string& what, Space& space) {
  Reader read{json, what};
  for (const Size& size : sizes()) {
    const std::string name = text(size.name, "_over_width");
    const Json* factor = size.grows_with_width ? read.find(name) : nullptr;
    if (!factor) continue;
    if (!factor->is_number() || !(factor->get<double>() >= 0))
      throw usage_error(what, ": ", name, " is ", factor->dump(), "; it must be 0 or more");
    space.over_width[size.name] = factor->get<double>();
  }
  for (const auto& [name, least, most] : {std::tuple{"decoder", &space.least_decoder, &space.most_decoder},
                                          std::tuple{"total", &space.least_total, &space.most_total}}) {
    const std::string least_name = text("least_", name), most_name = text("most_", name);
    if (const Json* value = read.find(least_name)) *least = whole(*value, what + ": " + least_name);
    if (const Json* value = read.find(most_name)) {
      *most = whole(*value, what + ": " + most_name);
      if (*most == 0) *most = INT64_MAX;
    }
    if (*least > *most)
      throw usage_error(what, ": ", least_name, " ", *least, " is more than ", most_name, " ", *most);
  }
  read.check_unknown();
}

// Lists that are small alone may multiply to more than fits in memory.
void refuse_too_many(const Space& space, const std::string& what) {
  const auto number = [](const auto& list) { return static_cast<double>(list.size()); };
  double kinds = 0, options = 0;
  for (size_t kind = 0; kind < space.layer.size(); ++kind) {
    double dividing = 1, all = 1;
    for (const Size& size : sizes()) {
      if (!space.has(static_cast<int64_t>(kind), size)) continue;
      all *= number(space.sizes[size.name]);
      if (size.divides_width) dividing *= number(space.sizes[size.name]);
    }
    kinds += dividing;
    options += all;
  }
  const double frames =
      number(space.width) * number(space.embedding_width) * number(space.division) * number(space.vocabulary);
  if (frames * kinds > kMostTried || number(space.width) * options > kMostOptions)
    throw usage_error(what, ": genes: ", frames,
                      " frames (width, embedding_width, division, vocabulary) and ", options,
                      " layers are too many to try; give fewer values, or larger steps");
}

}  // namespace

fs::path spaces_folder() { return shared_folder("spaces", "HEED_SPACES"); }

Space read_space(const Json& json, const std::string& what) {
  if (!json.is_object()) throw usage_error(what, ": a space is a table with [model] and [genes]");
  Space space;
  space.source = json;
  Reader read{json, what};
  if (const Json* about = read.find("about")) {
    if (!about->is_string()) throw usage_error(what, ": about must be text");
    space.about = *about;
  }
  if (const Json* law = read.find("law")) {
    if (!law->is_string()) throw usage_error(what, ": law must be the name of a law of worth");
    space.law = *law;
  }
  if (const Json* published = read.find("published")) {
    if (!published->is_array()) throw usage_error(what, ": published must be a list of sentences");
    for (const Json& sentence : *published) {
      if (!sentence.is_string()) throw usage_error(what, ": published: ", sentence.dump(), " is not text");
      space.published.push_back(sentence);
    }
  }
  if (const Json* length = read.find("length")) space.length = whole(*length, what + ": length");
  if (space.length < 1) throw usage_error(what, ": length is ", space.length, "; it must be positive");
  for (const char* part : {"model", "genes", "limits", "data", "training", "evaluation"}) read.find(part);
  read.check_unknown();

  space.model = read_model_spec(object_at(json, "model", what), what + ": model");
  space.data = from_json<DataSpec>(object_at(json, "data", what), what + ": data");
  space.training = from_json<TrainingSpec>(object_at(json, "training", what), what + ": training");
  space.evaluation = from_json<EvaluationSpec>(object_at(json, "evaluation", what), what + ": evaluation");
  validate(space.training);
  validate(space.evaluation);
  space.layers = {static_cast<int64_t>(space.model.letters().size()) / 2};
  space.width = {space.model.width};
  space.sizes = space.model.sizes;
  space.embedding_width = {space.model.embedding.width};
  space.division = {space.model.embedding.division};
  space.vocabulary = {space.model.embedding.vocabulary};
  read_genes(object_at(json, "genes", what), what + ": genes", space);
  read_limits(object_at(json, "limits", what), what + ": limits", space);
  for (const int64_t n : space.layers) {
    if (n < 1 || n > kMostLayers)
      throw usage_error(what, ": genes: layers: ", n, " is not from 1 to ", kMostLayers);
  }
  refuse_too_many(space, what);
  // Every value must give a valid model; this is tried with one layer of each kind, and of each size that
  // must divide the width.
  const auto tried_like = [](const Layer& a, const Layer& b) {
    return a.kind == b.kind && std::all_of(sizes().begin(), sizes().end(), [&](const Size& size) {
             return !size.divides_width || a.sizes[size.name] == b.sizes[size.name];
           });
  };
  bool any = false;
  std::vector<Layer> options;
  int64_t options_of = 0;
  for (const Frame& frame : space.frames()) {
    if (frame.width != options_of) options = space.options(frame.width);
    options_of = frame.width;
    for (size_t i = 0; i < options.size(); ++i) {
      if (i > 0 && tried_like(options[i], options[i - 1])) continue;
      any = true;
      try {
        validate(space.model_of({frame, {options[i]}}));
      } catch (const Error& error) {
        throw usage_error(what, ": ", space.key_of({frame, {options[i]}}),
                          " cannot be built: ", error.what());
      }
    }
  }
  if (!any)
    throw usage_error(what, " is empty: no inner width is at least ", space.over_width["inner"],
                      " times a width, or no number of heads divides one");
  return space;
}

Space load_space(const std::string& name_or_path, const std::string& genes) {
  const bool named = name_or_path.find_first_of("./") == std::string::npos;
  const fs::path path = named ? spaces_folder() / (name_or_path + ".toml") : fs::path(name_or_path);
  if (named && !fs::exists(path)) {
    const std::string guess = nearest(name_or_path, space_names());
    throw usage_error("there is no space '", name_or_path, "'",
                      guess.empty() ? ";" : "; did you mean '" + guess + "'?",
                      " `heed search --list` shows all; a file is given with its path");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) throw usage_error("cannot read ", path.string());
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  Json source = parse_toml(content, path.string());
  std::string what = path.string();
  if (!genes.empty()) {
    const std::string given = "--genes '" + genes + "'";
    const Json table = parse_toml("genes = {" + genes + "}", given).at("genes");
    for (const auto& [gene, values] : table.items()) source["genes"][gene] = values;
    what += " with " + given;
  }
  Space space = read_space(source, what);
  space.name = path.stem();
  return space;
}

std::vector<std::string> space_names() { return names_in(spaces_folder(), ".toml"); }

}  // namespace heed::spec
