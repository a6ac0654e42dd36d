#include "heed/spec/space.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "heed/base/toml.h"
#include "heed/spec/arch.h"
#include "heed/spec/shared_folder.h"

namespace heed::spec {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostValues = 4096;  // of one gene; more is a slip of the pen
constexpr int64_t kMostLayers = 1024;
constexpr double kMostTried = 1 << 16, kMostOptions = 1 << 22;

fs::path spaces_folder() { return shared_folder("spaces", "HEED_SPACES"); }

int64_t whole(const Json& json, const std::string& what) {
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX))
    throw usage_error(what, " must be a whole number, it is ", json.dump());
  return json.get<int64_t>();
}

// 8, [2, 4, 8], or {from = 128, to = 1024, step = 64}, both ends among the values.
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
      throw usage_error(what, ": from ", from, " to ", to, " by ", step, " is no range of 1 to ", kMostValues,
                        " values");
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

bool holds(const std::string& letters, const char* any) {
  return letters.find_first_of(any) != std::string::npos;
}

// What belongs where in a file; each key once.
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
      if (!kind.is_string()) throw usage_error(what, ": layer: ", kind.dump(), " is no text");
      space.layer.push_back(parse_arch(kind.get<std::string>()));
    }
  }
  read.values("layers", space.layers, 1);
  read.values("width", space.width, 1);
  read.values("heads", space.heads, 1);
  read.values("inner", space.inner, 1);
  read.values("projection", space.projection, 1);
  read.values("embedding_width", space.embedding_width, 0);
  read.values("division", space.division, 1);
  read.values("vocabulary", space.vocabulary, 1);
  read.check_unknown();
}

void read_limits(const Json& json, const std::string& what, Space& space) {
  Reader read{json, what};
  if (const Json* factor = read.find("inner_over_width")) {
    if (!factor->is_number() || !(factor->get<double>() >= 0))
      throw usage_error(what, ": inner_over_width is ", factor->dump(), "; it must be 0 or more");
    space.inner_over_width = factor->get<double>();
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

// Lists that are harmless alone may multiply to more than memory holds.
void refuse_too_many(const Space& space, const std::string& what) {
  const auto number = [](const auto& list) { return static_cast<double>(list.size()); };
  double kinds = 0, options = 0;
  for (const std::string& kind : space.layer) {
    const double of_heads = holds(kind, "s") ? number(space.heads) : 1;
    kinds += of_heads;
    options += of_heads * (holds(kind, "f") ? number(space.inner) : 1) *
               (holds(kind, "ra") ? number(space.projection) : 1);
  }
  const double frames =
      number(space.width) * number(space.embedding_width) * number(space.division) * number(space.vocabulary);
  if (frames * kinds > kMostTried || number(space.width) * options > kMostOptions)
    throw usage_error(what, ": genes: ", frames,
                      " frames (width, embedding_width, division, vocabulary) and ", options,
                      " layers are too many to try; give fewer values, or larger steps");
}

}  // namespace

bool Space::allows_inner(int64_t width_of_model, int64_t value) const {
  return static_cast<double>(value) >= std::floor(inner_over_width * static_cast<double>(width_of_model));
}

bool Space::allows(int64_t width_of_model, const Layer& candidate) const {
  if (candidate.heads > 0 && model.head_width == 0 && width_of_model % candidate.heads != 0) return false;
  return candidate.inner == 0 || allows_inner(width_of_model, candidate.inner);
}

std::vector<Frame> Space::frames() const {
  std::vector<Frame> all;
  for (const int64_t w : width) {
    for (const int64_t e : embedding_width) {
      for (const int64_t k : division) {
        for (const int64_t v : vocabulary) all.push_back({w, e, k, v});
      }
    }
  }
  return all;
}

std::vector<Layer> Space::options(int64_t width_of_model) const {
  std::vector<Layer> all;
  const std::vector<int64_t> none = {0};
  for (size_t kind = 0; kind < layer.size(); ++kind) {
    for (const int64_t h : holds(layer[kind], "s") ? heads : none) {
      for (const int64_t f : holds(layer[kind], "f") ? inner : none) {
        for (const int64_t p : holds(layer[kind], "ra") ? projection : none) {
          const Layer option{static_cast<int64_t>(kind), h, f, p};
          if (allows(width_of_model, option)) all.push_back(option);
        }
      }
    }
  }
  return all;
}

double Space::log10_size() const {
  // log10(sum of 10^x), the largest taken out.
  std::vector<double> parts;
  for (const int64_t w : width) {
    const auto choices = static_cast<double>(options(w).size());
    if (choices == 0) continue;
    for (const int64_t n : layers) parts.push_back(static_cast<double>(n) * std::log10(choices));
  }
  if (parts.empty()) return -INFINITY;
  const double most = *std::max_element(parts.begin(), parts.end());
  double sum = 0;
  for (const double part : parts) sum += std::pow(10, part - most);
  return most +
         std::log10(sum * static_cast<double>(embedding_width.size() * division.size() * vocabulary.size()));
}

ModelSpec Space::model_of(const Candidate& candidate) const {
  ModelSpec spec = model;
  const Frame& frame = candidate.frame;
  spec.width = frame.width;
  spec.embedding_width = frame.embedding_width == frame.width ? 0 : frame.embedding_width;
  spec.division = frame.division;
  spec.vocabulary = frame.vocabulary;
  spec.heads.clear(), spec.inner.clear(), spec.projection.clear();
  std::string letters;
  for (const Layer& each : candidate.layers) {
    for (const char letter : layer.at(static_cast<size_t>(each.kind))) {
      letters += letter;
      if (letter == 's') spec.heads.push_back(each.heads);
      if (letter == 'f') spec.inner.push_back(each.inner);
      if (letter == 'r' || letter == 'a') spec.projection.push_back(each.projection);
    }
  }
  if (letters.empty()) letters.push_back('i');
  spec.arch = format_arch(letters);
  // A list of equal values is one value; one that no letter needs is as in the model all share.
  const auto tidy = [](std::vector<int64_t>& list, const std::vector<int64_t>& shared) {
    if (list.empty()) list = shared;
    if (std::all_of(list.begin(), list.end(), [&](int64_t value) { return value == list[0]; }))
      list.resize(1);
  };
  tidy(spec.heads, model.heads), tidy(spec.inner, model.inner), tidy(spec.projection, model.projection);
  return spec;
}

Recipe Space::recipe_of(const Candidate& candidate) const {
  Recipe recipe;
  recipe.about = text("found in the space ", name, ": ", key_of(candidate));
  recipe.model = model_of(candidate);
  recipe.data = data;
  // A vocabulary of all bytes has nothing to learn.
  if (recipe.data.tokenizer == "bpe" && recipe.model.vocabulary <= 256) recipe.data.tokenizer = "bytes";
  if (recipe.data.tokenizer != "bytes") recipe.data.vocabulary = recipe.model.vocabulary;
  recipe.training = training;
  recipe.evaluation = evaluation;
  return recipe;
}

std::string Space::key_of(const Candidate& candidate) const {
  const Frame& f = candidate.frame;
  std::string key = text(f.width, "/", f.embedding_width, "/", f.division, "/", f.vocabulary);
  for (const Layer& each : candidate.layers) {
    key += " " + layer.at(static_cast<size_t>(each.kind));
    if (each.heads) key += text(each.heads);
    if (each.inner) key += text(":", each.inner);
    if (each.projection) key += text("/", each.projection);
  }
  return key;
}

Candidate Space::candidate_of(const std::string& key) const {
  std::istringstream in(key);
  Candidate candidate;
  Frame& f = candidate.frame;
  char slash;
  if (!(in >> f.width >> slash >> f.embedding_width >> slash >> f.division >> slash >> f.vocabulary))
    throw failure("'", key, "' names no model of the space ", name);
  for (std::string word; in >> word;) {
    Layer each;
    size_t at = 0;
    while (at < word.size() && std::isalpha(static_cast<unsigned char>(word[at]))) ++at;
    const auto kind = std::find(layer.begin(), layer.end(), word.substr(0, at));
    if (kind == layer.end())
      throw failure("'", key, "' has a layer '", word, "' that the space ", name, " does not");
    each.kind = kind - layer.begin();
    std::istringstream numbers(word.substr(at));
    for (int64_t* value = &each.heads; value && numbers.peek() != EOF;) {
      const int sign = numbers.peek();
      if (sign == ':') value = &each.inner;
      if (sign == '/') value = &each.projection;
      if (sign == ':' || sign == '/') numbers.get();
      if (!(numbers >> *value)) throw failure("'", key, "': '", word, "' is no layer");
    }
    candidate.layers.push_back(each);
  }
  return candidate;
}

Space read_space(const Json& json, const std::string& what) {
  if (!json.is_object()) throw usage_error(what, ": a space is a table with [model] and [genes]");
  Space space;
  space.source = json;
  Reader read{json, what};
  if (const Json* about = read.find("about")) {
    if (!about->is_string()) throw usage_error(what, ": about must be text");
    space.about = *about;
  }
  if (const Json* published = read.find("published")) {
    if (!published->is_array()) throw usage_error(what, ": published must be a list of sentences");
    for (const Json& sentence : *published) {
      if (!sentence.is_string()) throw usage_error(what, ": published: ", sentence.dump(), " is no text");
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
  space.heads = space.model.heads, space.inner = space.model.inner, space.projection = space.model.projection;
  space.embedding_width = {space.model.embedding_width};
  space.division = {space.model.division};
  space.vocabulary = {space.model.vocabulary};
  read_genes(object_at(json, "genes", what), what + ": genes", space);
  read_limits(object_at(json, "limits", what), what + ": limits", space);
  for (const int64_t n : space.layers) {
    if (n < 1 || n > kMostLayers)
      throw usage_error(what, ": genes: layers: ", n, " is not from 1 to ", kMostLayers);
  }
  refuse_too_many(space, what);
  // Every value must make a model; that is tried with one layer of each kind.
  bool any = false;
  std::vector<Layer> options;
  int64_t options_of = 0;
  for (const Frame& frame : space.frames()) {
    if (frame.width != options_of) options = space.options(frame.width);
    options_of = frame.width;
    for (size_t i = 0; i < options.size(); ++i) {
      if (i > 0 && options[i].kind == options[i - 1].kind && options[i].heads == options[i - 1].heads)
        continue;
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
    throw usage_error(what, " is empty: no inner width is at least ", space.inner_over_width,
                      " times a width, or no number of heads divides one");
  return space;
}

Space load_space(const std::string& name_or_path) {
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
  Space space = read_space(parse_toml(content, path.string()), path.string());
  space.name = path.stem();
  return space;
}

std::vector<std::string> space_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(spaces_folder(), ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace heed::spec
