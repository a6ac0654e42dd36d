#include "heed/spec/model_spec.h"

#include <algorithm>
#include <cmath>

#include "heed/spec/arch.h"

namespace heed::spec {
namespace {

constexpr int64_t kMost = 1 << 24;  // any size beyond this is a slip of the pen

void check_positive(const char* name, int64_t value) {
  if (value < 1 || value > kMost)
    throw usage_error("model: ", name, " is ", value, "; it must be from 1 to ", kMost);
}

// How many of `letters` there are before `end`.
int64_t count_of(const std::string& all, std::string_view letters, size_t end) {
  return std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](char letter) { return letters.find(letter) != std::string_view::npos; });
}

void check_list(const char* name, const std::vector<int64_t>& list, const std::string& all,
                std::string_view letters) {
  const int64_t blocks = count_of(all, letters, all.size());
  if (blocks == 0) return;
  if (list.size() != 1 && static_cast<int64_t>(list.size()) != blocks) {
    throw usage_error("model: ", name, " has ", list.size(), " entries for ", blocks, " blocks of kind ",
                      letters, "; give one number or one per block");
  }
  for (int64_t value : list) check_positive(name, value);
}

int64_t entry_of(const std::vector<int64_t>& list, const ModelSpec& spec, std::string_view letters,
                 int64_t block) {
  if (list.size() == 1) return list[0];
  return list.at(static_cast<size_t>(count_of(spec.letters(), letters, static_cast<size_t>(block))));
}

void check_heads(const ModelSpec& spec, const std::string& letters) {
  for (size_t block = 0; block < letters.size(); ++block) {
    if (letters[block] != 's' || spec.head_width > 0) continue;
    const int64_t heads = spec.heads_of(static_cast<int64_t>(block));
    if (spec.width % heads == 0) continue;
    const int64_t below = spec.width / heads * heads;
    throw usage_error("model: block ", block, ": width ", spec.width, " is not a multiple of heads ", heads,
                      "; try ", below > 0 ? text(below, " or ") : "", below + heads, ", or give head_width");
  }
  for (size_t block = 0; block < letters.size(); ++block) {
    if (letters[block] != 'a') continue;
    const int64_t projection = spec.projection_of(static_cast<int64_t>(block));
    if (projection % spec.projection_heads != 0)
      throw usage_error("model: block ", block, ": projection ", projection,
                        " is not a multiple of projection_heads ", spec.projection_heads);
  }
}

void check_vocabulary(const ModelSpec& spec) {
  check_positive("vocabulary", spec.vocabulary);
  if (spec.embedding_width != 0) check_positive("embedding_width", spec.embedding_width);
  check_positive("division", spec.division);
  int64_t last = 0;
  for (int64_t end : spec.cutoffs) {
    if (end <= last) throw usage_error("model: cutoffs must rise from above 0; ", end, " comes after ", last);
    last = end;
  }
  const size_t clusters = spec.cluster_ends().size();
  if (spec.cluster_width(clusters - 1) < 1) {
    throw usage_error("model: cluster ", clusters - 1, " of the vocabulary would have embeddings of width ",
                      spec.table_width(), " / ", spec.division, "^", clusters - 1,
                      " = 0; choose a smaller division");
  }
  if (spec.tie_projections.size() != 1 && spec.tie_projections.size() < clusters)
    throw usage_error("model: tie_projections has ", spec.tie_projections.size(), " entries for ", clusters,
                      " clusters; give one for all or one per cluster");
}

// GPT-2 as Radford and others 2019.
ModelSpec gpt2() { return {}; }

// Transformer-XL as Dai and others 2019, in the layout of its public PyTorch code.
ModelSpec transformer_xl() {
  ModelSpec spec;
  spec.backbone = "transformer-xl";
  spec.arch = "(sf)x16";
  spec.width = 512, spec.heads = {8}, spec.inner = {2048}, spec.projection = {128};
  spec.norm = Norm::kPost;
  spec.final_norm = false;
  spec.activation = InnerActivation::kRelu;
  spec.positions = Positions::kRelative;
  spec.attention_bias = false;
  spec.scale_embedding = true;
  spec.output_bias = true;
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
  spec.shared_position_bias = false;
  spec.scale_embedding = false;
  spec.tie_weights = false;
  spec.initialisation = Initialisation::kSru;
  return spec;
}

}  // namespace

std::string ModelSpec::letters() const { return parse_arch(arch); }

int64_t ModelSpec::heads_of(int64_t block) const { return entry_of(heads, *this, "s", block); }

int64_t ModelSpec::head_width_of(int64_t block) const {
  return head_width ? head_width : width / heads_of(block);
}

int64_t ModelSpec::inner_of(int64_t block) const { return entry_of(inner, *this, "f", block); }

int64_t ModelSpec::projection_of(int64_t block) const { return entry_of(projection, *this, "ra", block); }

std::vector<int64_t> ModelSpec::cluster_ends() const {
  std::vector<int64_t> ends;
  for (int64_t end : cutoffs) {
    if (end < vocabulary) ends.push_back(end);
  }
  ends.push_back(vocabulary);
  return ends;
}

int64_t ModelSpec::cluster_width(size_t cluster) const {
  int64_t width_now = table_width();
  for (size_t i = 0; i < cluster; ++i) width_now /= division;
  return width_now;
}

// With narrower clusters all of them project, also the first, whose projection may be square.
bool ModelSpec::projects(size_t) const { return division > 1 || table_width() != width; }

bool ModelSpec::ties_projection(size_t cluster) const {
  return tie_projections.size() == 1 ? tie_projections[0] : tie_projections.at(cluster);
}

// The list of backbones. A new one adds one line.
const Registry<Backbone>& backbones() {
  static const Registry<Backbone> list(
      "backbone", {
                      {"gpt2", "pre-norm, learned positions, GELU, tied output", gpt2},
                      {"sru++", "fast recurrence with a little attention", sru},
                      {"transformer-xl", "relative attention over a memory", transformer_xl},
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
  check_positive("context", spec.context);
  check_positive("projection_heads", spec.projection_heads);
  if (spec.head_width != 0) check_positive("head_width", spec.head_width);
  check_list("heads", spec.heads, letters, "s");
  check_list("inner", spec.inner, letters, "f");
  check_list("projection", spec.projection, letters, "ra");
  check_heads(spec, letters);
  check_vocabulary(spec);
  if (spec.positions == Positions::kRelative && spec.width % 2 != 0)
    throw usage_error("model: width ", spec.width,
                      " is odd; relative positions are half sines, half cosines");
  if (spec.positions == Positions::kRelative && spec.shared_position_bias) {
    for (size_t block = 0, first = letters.find('s'); block < letters.size(); ++block) {
      if (letters[block] != 's') continue;
      const auto width_of = [&](size_t i) {
        return spec.heads_of(static_cast<int64_t>(i)) * spec.head_width_of(static_cast<int64_t>(i));
      };
      if (width_of(block) != width_of(first))
        throw usage_error("model: blocks ", first, " and ", block, " have ", width_of(first), " and ",
                          width_of(block), " columns of heads; set shared_position_bias to false");
    }
  }
  for (double rate : {spec.dropout, spec.attention_dropout, spec.embedding_dropout}) {
    if (!(rate >= 0 && rate < 1)) throw usage_error("model: a dropout of ", rate, " is not in [0, 1)");
  }
  if (!(spec.epsilon > 0) || !std::isfinite(spec.epsilon))
    throw usage_error("model: epsilon is ", spec.epsilon, "; it must be positive");
  if (!(spec.deviation > 0) || !std::isfinite(spec.deviation))
    throw usage_error("model: deviation is ", spec.deviation, "; it must be positive");
  if (!std::isfinite(spec.highway_bias))
    throw usage_error("model: highway_bias is ", spec.highway_bias, "; it must be a number");
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
