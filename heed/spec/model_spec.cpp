#include "heed/spec/model_spec.h"

#include <algorithm>
#include <cmath>

#include "heed/spec/arch.h"

namespace heed::spec {
namespace {

constexpr int64_t kMost = 1 << 24;  // far above any real size

void check_positive(const char* name, int64_t value) {
  if (value < 1 || value > kMost)
    throw usage_error("model: ", name, " is ", value, "; it must be from 1 to ", kMost);
}

// The letters whose blocks have the size.
std::string letters_with(const Size& size) {
  std::string with;
  for (const Letter& row : letters()) {
    if (row.has(size.name)) with += row.letter;
  }
  return with;
}

// One number for all blocks that have a size, or one for each of them.
void check_sizes(const ModelSpec& spec, const std::string& letters) {
  for (const Size& size : sizes()) {
    const std::vector<int64_t>& list = spec.sizes[size.name];
    const std::string with = letters_with(size);
    const auto blocks = std::count_if(letters.begin(), letters.end(),
                                      [&](char letter) { return with.find(letter) != std::string::npos; });
    if (blocks == 0) continue;
    if (list.size() != 1 && list.size() != static_cast<size_t>(blocks))
      throw usage_error("model: ", size.name, " has ", list.size(), " entries for ", blocks,
                        " blocks of kind ", with, "; give one number or one per block");
    for (int64_t value : list) check_positive(size.name, value);
  }
}

void check_heads(const ModelSpec& spec) {
  const std::vector<Block> blocks = spec.blocks();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Letter& row = letter_row(blocks[i].letter);
    for (const Size& size : row.sizes) {
      const int64_t value = blocks[i][size.name];
      if (!size.divides_width || spec.attention.head_width > 0 || spec.width % value == 0) continue;
      const int64_t below = spec.width / value * value;
      throw usage_error("model: block ", i, ": width ", spec.width, " is not a multiple of ", size.name, " ",
                        value, "; try ", below > 0 ? text(below, " or ") : "", below + value,
                        ", or give head_width");
    }
    if (row.attention == Attention::kByContent && blocks[i]["projection"] % spec.recurrence.heads != 0)
      throw usage_error("model: block ", i, ": projection ", blocks[i]["projection"],
                        " is not a multiple of projection_heads ", spec.recurrence.heads);
  }
}

// Shared biases have one entry per column of the heads, so all blocks must have as many.
void check_shared_biases(const ModelSpec& spec) {
  if (spec.positions != Positions::kRelative || !spec.attention.shared_position_bias) return;
  const std::vector<Block> blocks = spec.blocks();
  const auto columns = [&](size_t i) { return blocks[i]["heads"] * spec.head_width(blocks[i]); };
  size_t first = blocks.size();
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].attention() != Attention::kByPosition) continue;
    if (first == blocks.size()) first = i;
    if (columns(i) != columns(first))
      throw usage_error("model: blocks ", first, " and ", i, " have ", columns(first), " and ", columns(i),
                        " columns of heads; set shared_position_bias to false");
  }
}

void check_vocabulary(const ModelSpec& spec) {
  check_positive("vocabulary", spec.embedding.vocabulary);
  if (spec.embedding.types != 0) check_positive("types", spec.embedding.types);
  if (spec.embedding.width != 0) check_positive("embedding_width", spec.embedding.width);
  check_positive("division", spec.embedding.division);
  int64_t last = 0;
  for (int64_t end : spec.embedding.cutoffs) {
    if (end <= last) throw usage_error("model: cutoffs must rise from above 0; ", end, " comes after ", last);
    last = end;
  }
  const size_t clusters = spec.cluster_ends().size();
  if (spec.cluster_width(clusters - 1) < 1) {
    throw usage_error("model: cluster ", clusters - 1, " of the vocabulary would have embeddings of width ",
                      spec.table_width(), " / ", spec.embedding.division, "^", clusters - 1,
                      " = 0; choose a smaller division");
  }
  if (spec.head.tie_projections.size() != 1 && spec.head.tie_projections.size() < clusters)
    throw usage_error("model: tie_projections has ", spec.head.tie_projections.size(), " entries for ",
                      clusters, " clusters; give one for all or one per cluster");
}

// GPT-2 as Radford and others 2019.
ModelSpec gpt2() { return {}; }

// Transformer-XL as Dai and others 2019, in the layout of its public PyTorch code.
ModelSpec transformer_xl() {
  ModelSpec spec;
  spec.backbone = "transformer-xl";
  spec.arch = "(sf)x16";
  spec.width = 512, spec.sizes["heads"] = {8}, spec.sizes["inner"] = {2048}, spec.sizes["projection"] = {128};
  spec.norm = Norm::kPost;
  spec.final_norm = false;
  spec.feed_forward.activation = InnerActivation::kRelu;
  spec.positions = Positions::kRelative;
  spec.attention.bias = false;
  spec.embedding.scale = true;
  spec.head.bias = true;
  spec.dropout = 0.1;
  spec.dropout_everywhere = true;
  spec.initialisation = Initialisation::kTransformerXl;
  return spec;
}

// SRU++ as Lei 2021; s and f blocks are those of Transformer-XL, before their norm.
ModelSpec sru() {
  ModelSpec spec = transformer_xl();
  spec.backbone = "sru++";
  spec.arch = "(a)x10";
  spec.norm = Norm::kPre;
  spec.attention.shared_position_bias = false;
  spec.embedding.scale = false;
  spec.head.tie_weights = false;
  spec.initialisation = Initialisation::kSru;
  return spec;
}

// BERT as Devlin and others 2019.
ModelSpec bert() {
  ModelSpec spec;
  spec.backbone = "bert";
  spec.stack = "encoder";
  spec.norm = Norm::kPost;
  spec.final_norm = false;
  spec.epsilon = 1e-12;
  spec.feed_forward.activation = InnerActivation::kGelu;
  spec.dropout = spec.attention.dropout = 0.1;
  spec.initialisation = Initialisation::kBert;
  spec.embedding.kind = "bert";
  spec.embedding.vocabulary = 30522;
  spec.embedding.context = 512;
  spec.embedding.types = 2;
  spec.head.kind = "hidden";
  spec.head.bias = true;
  return spec;
}

}  // namespace

std::string ModelSpec::letters() const { return parse_arch(arch); }

std::vector<Block> ModelSpec::blocks() const {
  std::vector<Block> blocks;
  BySize<size_t> next;  // entry of its list, for each size
  for (const char letter : letters()) {
    Block block{letter, {}};
    for (const Size& size : letter_row(letter).sizes) {
      const std::vector<int64_t>& list = sizes[size.name];
      block.sizes[size.name] = list.size() == 1 ? list[0] : list.at(next[size.name]++);
    }
    blocks.push_back(block);
  }
  return blocks;
}

void ModelSpec::set_blocks(const std::vector<Block>& blocks) {
  SizeLists lists;
  std::string letters;
  for (const Block& block : blocks) {
    letters += block.letter;
    for (const Size& size : letter_row(block.letter).sizes) lists[size.name].push_back(block[size.name]);
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i].empty()) sizes[i] = std::move(lists[i]);
  }
  arch = format_arch(letters.empty() ? identity_arch() : letters);
}

SizeLists ModelSpec::usual_sizes() {
  SizeLists lists;
  for (const Size& size : spec::sizes()) lists[size.name] = {size.usual};
  return lists;
}

std::vector<int64_t> ModelSpec::cluster_ends() const {
  std::vector<int64_t> ends;
  for (int64_t end : embedding.cutoffs) {
    if (end < embedding.vocabulary) ends.push_back(end);
  }
  ends.push_back(embedding.vocabulary);
  return ends;
}

int64_t ModelSpec::cluster_width(size_t cluster) const {
  int64_t width_now = table_width();
  for (size_t i = 0; i < cluster; ++i) width_now /= embedding.division;
  return width_now;
}

// With narrower clusters every cluster projects, even the first, whose projection may be square.
bool ModelSpec::projects(size_t) const { return embedding.division > 1 || table_width() != width; }

bool ModelSpec::ties_projection(size_t cluster) const {
  return head.tie_projections.size() == 1 ? head.tie_projections[0] : head.tie_projections.at(cluster);
}

// The list of backbones. A new one adds one line.
const Registry<Backbone>& backbones() {
  static const Registry<Backbone> list(
      "backbone",
      {
          {"bert",
           "an encoder: every token sees all others; post-norm, learned positions, GELU",
           bert,
           "wordpiece",
           false,
           {}},
          {"gpt2", "pre-norm, learned positions, GELU, tied output", gpt2, "bpe", true, {3, 6, 12}},
          {"sru++", "fast recurrence with a little attention", sru, "words", false, {}},
          {"transformer-xl", "relative attention over a memory", transformer_xl, "words", false, {4, 8, 16}},
      });
  return list;
}

void validate(const ModelSpec& spec) {
  backbones().find(spec.backbone);
  const std::string letters = spec.letters();
  if (spec.mix != 0 && (spec.mix < 2 || letters.size() % static_cast<size_t>(spec.mix) != 0))
    throw usage_error("model: ", letters.size(), " blocks cannot be layers of ", spec.mix,
                      " alternatives; mix must be at least 2 and divide them, or 0");
  if (spec.mix != 0 && spec.norm == Norm::kPost)
    throw usage_error(
        "model: alternatives can be mixed with norm \"pre\" only; with \"post\" identity alone would not be "
        "normed");
  check_positive("width", spec.width);
  check_positive("context", spec.embedding.context);
  check_positive("projection_heads", spec.recurrence.heads);
  if (spec.attention.head_width != 0) check_positive("head_width", spec.attention.head_width);
  check_sizes(spec, letters);
  check_heads(spec);
  check_shared_biases(spec);
  check_vocabulary(spec);
  if (spec.positions == Positions::kRelative && spec.width % 2 != 0)
    throw usage_error("model: width ", spec.width,
                      " is odd; relative positions are half sines, half cosines");
  for (double rate : {spec.dropout, spec.attention.dropout, spec.embedding.dropout}) {
    if (!(rate >= 0 && rate < 1)) throw usage_error("model: a dropout of ", rate, " is not in [0, 1)");
  }
  if (!(spec.epsilon > 0) || !std::isfinite(spec.epsilon))
    throw usage_error("model: epsilon is ", spec.epsilon, "; it must be positive");
  if (!(spec.deviation > 0) || !std::isfinite(spec.deviation))
    throw usage_error("model: deviation is ", spec.deviation, "; it must be positive");
  if (!std::isfinite(spec.recurrence.highway_bias))
    throw usage_error("model: highway_bias is ", spec.recurrence.highway_bias, "; it must be a number");
}

ModelSpec read_model_spec(const Json& json, const std::string& what) {
  ModelSpec defaults;
  if (json.is_object() && json.contains("backbone") && json["backbone"].is_string())
    defaults = backbones().find(json["backbone"].get<std::string>()).settings();
  ModelSpec spec = from_json<ModelSpec>(json, what, std::move(defaults));
  validate(spec);
  return spec;
}

}  // namespace heed::spec
