#include "heed/spec/space.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>

namespace heed::spec {

bool Space::allows(int64_t width_of_model, const Size& size, int64_t value) const {
  return static_cast<double>(value) >=
         std::floor(over_width[size.name] * static_cast<double>(width_of_model));
}

bool Space::allows(int64_t width_of_model, const Layer& candidate) const {
  for (const Size& size : spec::sizes()) {
    const int64_t value = candidate.sizes[size.name];
    if (value == 0) continue;
    if (size.divides_width && model.attention.head_width == 0 && width_of_model % value != 0) return false;
    if (!allows(width_of_model, size, value)) return false;
  }
  return true;
}

bool Space::has(int64_t kind, const Size& size) const {
  const std::string& letters = layer.at(static_cast<size_t>(kind));
  return std::any_of(letters.begin(), letters.end(),
                     [&](char letter) { return letter_row(letter).has(size.name); });
}

std::vector<Block> Space::blocks_of(const Layer& candidate) const {
  std::vector<Block> blocks;
  for (const char letter : layer.at(static_cast<size_t>(candidate.kind))) {
    Block block{letter, {}};
    for (const Size& size : letter_row(letter).sizes) block.sizes[size.name] = candidate.sizes[size.name];
    blocks.push_back(block);
  }
  return blocks;
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
  for (size_t kind = 0; kind < layer.size(); ++kind) {
    std::vector<Layer> options = {{static_cast<int64_t>(kind), {}}};
    for (const Size& size : spec::sizes()) {
      if (!has(static_cast<int64_t>(kind), size)) continue;
      std::vector<Layer> finer;
      for (const Layer& option : options) {
        for (const int64_t value : sizes[size.name]) {
          finer.push_back(option);
          finer.back().sizes[size.name] = value;
        }
      }
      options = std::move(finer);
    }
    std::copy_if(options.begin(), options.end(), std::back_inserter(all),
                 [&](const Layer& option) { return allows(width_of_model, option); });
  }
  return all;
}

double Space::log10_size() const {
  // log10(sum of 10^x), with the largest factored out.
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
  spec.embedding.width = frame.embedding_width == frame.width ? 0 : frame.embedding_width;
  spec.embedding.division = frame.division;
  spec.embedding.vocabulary = frame.vocabulary;
  std::vector<Block> blocks;
  for (const Layer& each : candidate.layers) {
    const std::vector<Block> more = blocks_of(each);
    blocks.insert(blocks.end(), more.begin(), more.end());
  }
  spec.set_blocks(blocks);
  // A list of equal values is one value.
  for (std::vector<int64_t>& list : spec.sizes) {
    if (std::all_of(list.begin(), list.end(), [&](int64_t value) { return value == list[0]; }))
      list.resize(std::min<size_t>(1, list.size()));
  }
  return spec;
}

Recipe Space::recipe_of(const Candidate& candidate) const {
  Recipe recipe;
  recipe.about = text("a model of the space ", name, ": ", key_of(candidate));
  recipe.model = model_of(candidate);
  recipe.data = data;
  // A vocabulary of all bytes has nothing to learn.
  if (recipe.data.tokenizer == "bpe" && recipe.model.embedding.vocabulary <= 256)
    recipe.data.tokenizer = "bytes";
  if (recipe.data.tokenizer != "bytes") recipe.data.vocabulary = recipe.model.embedding.vocabulary;
  recipe.training = training;
  recipe.evaluation = evaluation;
  return recipe;
}

std::string Space::key_of(const Candidate& candidate) const {
  const Frame& f = candidate.frame;
  std::string key = text(f.width, "/", f.embedding_width, "/", f.division, "/", f.vocabulary);
  for (const Layer& each : candidate.layers) {
    key += " " + layer.at(static_cast<size_t>(each.kind));
    for (const Size& size : spec::sizes()) {
      if (const int64_t value = each.sizes[size.name]) key += text(size.mark, value);
    }
  }
  return key;
}

Candidate Space::candidate_of(const std::string& key) const {
  std::istringstream in(key);
  Candidate candidate;
  Frame& f = candidate.frame;
  char slash;
  if (!(in >> f.width >> slash >> f.embedding_width >> slash >> f.division >> slash >> f.vocabulary))
    throw damaged_error("'", key, "' is not the name of a model of the space ", name);
  for (std::string word; in >> word;) {
    Layer each;
    size_t at = 0;
    while (at < word.size() && std::isalpha(static_cast<unsigned char>(word[at]))) ++at;
    const auto kind = std::find(layer.begin(), layer.end(), word.substr(0, at));
    if (kind == layer.end())
      throw damaged_error("'", key, "' has a layer '", word, "' that the space ", name, " does not");
    each.kind = kind - layer.begin();
    // A mark and a number for each of its sizes.
    for (const char* next = word.c_str() + at; *next != 0;) {
      const char* digits = next + std::strcspn(next, "0123456789");
      const std::string_view mark(next, static_cast<size_t>(digits - next));
      const auto size = std::ranges::find(spec::sizes(), mark, &Size::mark);
      const char* const end = word.c_str() + word.size();
      int64_t value = 0;
      const auto [after, error] = std::from_chars(digits, end, value);
      if (size == spec::sizes().end() || error != std::errc())
        throw damaged_error("'", key, "': '", word, "' is not a layer");
      each.sizes[size->name] = value;
      next = after;
    }
    candidate.layers.push_back(each);
  }
  return candidate;
}

}  // namespace heed::spec
