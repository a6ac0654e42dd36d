#include "heed/ops/attention.h"

#include <algorithm>
#include <cstdlib>

#include "heed/base/threads.h"

namespace heed::ops {
namespace {

enum Input : size_t { kQ, kK, kV, kPadding, kRelative, kU, kW, kPositions, kRng, kInputs };

// Shapes alone, for costs and scratch.
kernels::Attention shape_of(const AttentionSettings& c, const Signature& s) {
  kernels::Attention a{};
  a.B = s.in(kQ).dim(0), a.T = s.in(kQ).dim(1), a.K = s.in(kK).dim(1), a.H = c.heads, a.E = c.head_width;
  a.R = s.has(kRelative) ? s.in(kRelative).dim(0) : 0;
  a.workers = thread_count();
  return a;
}

// Multiply-adds over the whole rectangle of queries and keys, as the papers count.
Cost cost_of(const kernels::Attention& a, const Signature& s, double products) {
  return {2 * products * static_cast<double>(a.B * a.H) * static_cast<double>(a.T * a.K) *
              static_cast<double>(a.E),
          static_cast<double>(s.bytes())};
}

// Sets the limits of what a query sees from the run-time positions. same_length: j' <= i - shift is
// forbidden, j' counted from the first existing key; shift depends on how much memory there is by now.
void set_positions(kernels::Attention& a, const AttentionSettings& c, const int32_t* positions) {
  a.causal = c.mask == AttentionMask::kCausal;
  a.window = c.window;
  a.first_query = positions ? positions[0] : a.K - a.T;
  a.first_key = positions ? positions[1] : 0;
  if (a.first_key < 0 || (a.causal && (a.first_query < 0 || a.first_query + a.T > a.K)) ||
      a.first_key > a.K) {
    throw usage_error("attention: ", a.T, " queries from key ", a.first_query, " with keys from ",
                      a.first_key, " on do not lie within ", a.K, " keys");
  }
  if (c.same_length == SameLength::kNone) return;
  const int64_t length = a.first_query + a.T - a.first_key;
  const int64_t masked = length - c.memory_length - (c.same_length == SameLength::kNv ? 1 : 0);
  const int64_t shift = masked > 0 ? a.T - masked : a.T;
  a.has_lowest = true;
  a.lowest_offset = 1 - shift;
}

// The longest distance between a query and a key it sees; negative if there is none. It is that of the last
// query.
int64_t farthest(const kernels::Attention& a) {
  int64_t distance = a.first_query + a.T - 1 - a.first_key;
  if (a.window >= 0) distance = std::min(distance, a.window);
  if (a.has_lowest) distance = std::min(distance, a.first_query - a.first_key - a.lowest_offset);
  return distance;
}

std::string too_few_rows(const kernels::Attention& a) {
  return text("relative has ", a.R, " rows, for distances up to ", a.R - 1, "; the last of ", a.T,
              " queries from key ", a.first_query, " on sees keys at a distance of ", farthest(a));
}

kernels::AttentionRows columns(const Tensor& t, int64_t offset) {
  return {t.f32() + offset, t.shape().dim(-1)};
}

kernels::Attention arguments(const AttentionSettings& c, const Run& r, const Tensor& out, const Tensor& lse) {
  kernels::Attention a = shape_of(c, *r.signature);
  a.q = columns(r.in(kQ), c.q_offset);
  a.k = columns(r.in(kK), c.k_offset);
  a.v = columns(r.in(kV), c.v_offset);
  a.padding = r.in(kPadding).i32_or_null();
  a.relative = r.in_or_null(kRelative);
  a.u = r.in_or_null(kU);
  a.w = r.in_or_null(kW);
  set_positions(a, c, r.in(kPositions).i32_or_null());
  if (a.relative && farthest(a) >= a.R) throw usage_error("attention: ", too_few_rows(a));
  a.dropout = static_cast<float>(c.dropout);
  a.stream = static_cast<uint32_t>(c.stream);
  a.rng = r.in(kRng).i32_or_null();
  a.out = columns(out, 0);
  a.lse = lse.f32();
  return a;
}

// Few queries have their own kernel.
bool decodes(const AttentionSettings& c, int64_t T) { return T <= kernels::kDecodeQueries && c.dropout == 0; }

enum class Pass { kForward, kDecode, kBackward };

struct Scratch {
  float* memory;
  int workers;  // threads that it is for

  // The plan is made for the current number of threads; if there are more when it runs, the others stay idle.
  Scratch(Carver& carver, kernels::Attention shape, Pass pass) : workers(shape.workers) {
    const auto floats = [&] {
      shape.workers = workers;
      return pass == Pass::kDecode ? kernels::attention_decode_scratch(shape)
                                   : kernels::attention_scratch(shape, pass == Pass::kBackward);
    };
    while (workers > 1 && !carver.fits<float>(floats())) --workers;
    memory = carver.take<float>(floats());
  }
  void give_to(kernels::Attention& a) const { a.scratch = memory, a.workers = workers; }
};

void check(const AttentionSettings& c, const Signature& s) {
  expect_inputs(s, 3, 12);
  expect(s.inputs.size() >= kInputs,
         text("takes ", static_cast<int>(kInputs), " inputs, none where one is absent"));
  for (size_t i : {kQ, kK, kV, kRelative, kU, kW}) {
    if (s.has(i)) expect_dtype(s, i, DType::kF32, "q, k, v, relative, u and w");
  }
  expect(c.heads >= 1, text("heads must be at least 1, it is ", c.heads));
  expect(c.head_width >= 1, text("head_width must be at least 1, it is ", c.head_width));
  for (size_t i : {kQ, kK, kV}) expect_rank(s, i, 3, "q, k and v");
  const int64_t B = s.in(kQ).dim(0), T = s.in(kQ).dim(1), K = s.in(kK).dim(1), width = c.heads * c.head_width;
  expect(s.in(kK).dim(0) == B && s.in(kV).dim(0) == B, "q, k and v differ in batch");
  expect(s.in(kV).dim(1) == K, "k and v differ in rows");
  expect(B >= 1 && T >= 1 && K >= 1, "there must be at least one sequence, one query and one key");
  expect(c.mask == AttentionMask::kFull || K >= T,
         text("a causal mask needs at least as many keys as queries, ", K, " < ", T));
  const std::pair<size_t, int64_t> offsets[] = {{kQ, c.q_offset}, {kK, c.k_offset}, {kV, c.v_offset}};
  for (const auto& [input, offset] : offsets) {
    expect(offset >= 0 && offset + width <= s.in(input).dim(2),
           text(c.heads, " heads of width ", c.head_width, " from column ", offset, " do not fit in ",
                s.in(input).str()));
  }
  expect(c.window >= -1, text("window must be -1 or more, it is ", c.window));
  expect(c.dropout >= 0 && c.dropout < 1, text("dropout must be in [0, 1), it is ", c.dropout));
  expect(c.memory_length >= 0, text("memory_length must not be negative, it is ", c.memory_length));
  if (s.has(kPadding)) expect_type(s, kPadding, DType::kI32, {B, K}, "padding");
  if (s.has(kRelative)) {
    expect_rank(s, kRelative, 2, "relative");
    expect(s.in(kRelative).dim(0) >= 1 && s.in(kRelative).dim(1) == width,
           text("relative ", s.in(kRelative).str(), " needs rows of width ", width));
    expect(c.mask == AttentionMask::kCausal, "relative positions need a causal mask");
    if (!s.has(kPositions)) {  // otherwise what is seen is known at run time only
      kernels::Attention a = shape_of(c, s);
      set_positions(a, c, nullptr);
      expect(farthest(a) < a.R, too_few_rows(a));
    }
  }
  for (size_t i : {kU, kW}) {
    if (!s.has(i)) continue;
    expect(s.has(kRelative), "u and w belong to relative positions");
    expect_shape(s, i, {width}, "u and w");
  }
  if (s.has(kPositions)) expect_type(s, kPositions, DType::kI32, {2}, "positions");
  expect(c.dropout == 0 || s.has(kRng), "dropout needs the rng input");
  if (s.has(kRng)) expect_type(s, kRng, DType::kI32, {4}, "rng");
}

// Outputs out: [B, T, H*E] and the log-sum-exp of each row: [B, H, T], which is all the backward pass keeps.
class Attention : public OpWith<Attention, AttentionSettings> {
 public:
  static constexpr const char* kKind = "attention";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct AttentionBackwardSettings : AttentionSettings {
  // Which of the gradients belongs to q, k and v: {0, 0, 0} when all three are columns of one value, {0, 1,
  // 1} when k and v are.
  std::vector<int64_t> sources = {0, 1, 2};
  template <class Visitor>
  void visit(Visitor&& field) {
    AttentionSettings::visit(field);
    field("sources", sources, "which value q, k and v are columns of");
  }
};

// Inputs as Attention's (nine), then out, lse, dout. Outputs a gradient per distinct source, then those of
// relative, u and w if they are there.
class AttentionBackward : public OpWith<AttentionBackward, AttentionBackwardSettings> {
 public:
  static constexpr const char* kKind = "attention_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
};

}  // namespace

ValueId attention(Graph& graph, const AttentionInputs& in, AttentionSettings settings) {
  return graph.add(make<Attention>(settings),
                   {in.q, in.k, in.v, in.padding, in.relative, in.u, in.w, in.positions, in.rng})[0];
}

std::vector<TensorType> Attention::infer(const Signature& s) const {
  check(settings_, s);
  expect(s.inputs.size() == kInputs,
         text("takes ", static_cast<int>(kInputs), " inputs, ", s.inputs.size(), " given"));
  const int64_t B = s.in(kQ).dim(0), T = s.in(kQ).dim(1);
  return {{{B, T, settings_.heads * settings_.head_width}}, {{B, settings_.heads, T}}};
}

Cost Attention::cost(const Signature& s) const {
  return cost_of(shape_of(settings_, s), s, s.has(kRelative) ? 3 : 2);
}

Scratch Attention::carve(Carver& carver, const Signature& s) const {
  const bool few = decodes(settings_, s.in(kQ).dim(1));
  return {carver, shape_of(settings_, s), few ? Pass::kDecode : Pass::kForward};
}

void Attention::run(const Run& r) const {
  kernels::Attention a = arguments(settings_, r, r.out(0), r.out(1));
  const bool few = decodes(settings_, a.T);
  scratch_of(r).give_to(a);
  few ? kernels::attention_decode(a) : kernels::attention(a);
}

void Attention::gradient(Gradients& g) const {
  AttentionBackwardSettings backward;
  static_cast<AttentionSettings&>(backward) = settings_;
  // q, k and v that are columns of one value share its gradient, unless the columns overlap: the kernel
  // writes each separately.
  const int64_t width = settings_.heads * settings_.head_width;
  const int64_t offsets[] = {settings_.q_offset, settings_.k_offset, settings_.v_offset};
  backward.sources.clear();
  int64_t sources = 0;
  for (size_t i : {kQ, kK, kV}) {
    int64_t mine = sources;
    for (size_t j = 0; j < i && mine == sources; ++j) {
      if (g.input(j) != g.input(i)) continue;
      const int64_t candidate = backward.sources[j];
      bool disjoint = true;
      for (size_t l = 0; l < i; ++l) {
        if (backward.sources[l] == candidate) disjoint &= std::abs(offsets[l] - offsets[i]) >= width;
      }
      if (disjoint) mine = candidate;
    }
    backward.sources.push_back(mine);
    sources = std::max(sources, mine + 1);
  }
  if (!g.output_gradient(0)) throw usage_error("attention: the log-sum-exp output cannot be differentiated");
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < kInputs; ++i) inputs.push_back(g.input(i));
  for (size_t i : {kQ, kK, kV}) inputs[i] = g.saved(inputs[i]);
  inputs.insert(inputs.end(), {g.output(0), g.output(1), g.output_gradient(0)});
  const auto outputs = g.graph().add(make<AttentionBackward>(backward), std::move(inputs));
  std::vector<bool> done(static_cast<size_t>(sources));
  for (size_t i : {kQ, kK, kV}) {
    const auto source = static_cast<size_t>(backward.sources[i]);
    if (!done[source]) g.add(i, outputs[source]);
    done[source] = true;
  }
  auto next = static_cast<size_t>(sources);
  for (size_t i : {kRelative, kU, kW}) {
    if (g.input(i)) g.add(i, outputs[next++]);
  }
}

std::vector<TensorType> AttentionBackward::infer(const Signature& s) const {
  check(settings_, s);
  expect_inputs(s, 3, kInputs + 3);
  expect(s.inputs.size() == kInputs + 3 && s.has(kInputs) && s.has(kInputs + 1) && s.has(kInputs + 2),
         "takes the forward inputs, out, lse and dout");
  expect_shape(s, kInputs + 2, s.in(kInputs), "dout");
  expect(settings_.sources.size() == 3, "sources has one entry for each of q, k and v");
  std::vector<TensorType> types;
  for (size_t i : {kQ, kK, kV}) {
    const int64_t source = settings_.sources[i];
    expect(source >= 0 && source <= static_cast<int64_t>(types.size()), "sources must count up from 0");
    if (source == static_cast<int64_t>(types.size())) types.push_back(*s.inputs[i]);
  }
  for (size_t i : {kRelative, kU, kW}) {
    if (s.has(i)) types.push_back(*s.inputs[i]);
  }
  return types;
}

Cost AttentionBackward::cost(const Signature& s) const {
  return cost_of(shape_of(settings_, s), s, s.has(kRelative) ? 8 : 5);
}

Scratch AttentionBackward::carve(Carver& carver, const Signature& s) const {
  return {carver, shape_of(settings_, s), Pass::kBackward};
}

void AttentionBackward::run(const Run& r) const {
  kernels::AttentionBackward g{};
  g.forward = arguments(settings_, r, r.in(kInputs), r.in(kInputs + 1));
  scratch_of(r).give_to(g.forward);
  g.dout = columns(r.in(kInputs + 2), 0);
  const auto& sources = settings_.sources;
  // The kernel writes the columns of the heads; unused columns get no gradient.
  const int64_t width = settings_.heads * settings_.head_width;
  for (int64_t source = 0; source <= *std::max_element(sources.begin(), sources.end()); ++source) {
    const Tensor& d = r.out(static_cast<size_t>(source));
    if (std::count(sources.begin(), sources.end(), source) * width == d.shape().dim(-1)) continue;
    std::fill(d.floats().begin(), d.floats().end(), 0.f);
  }
  g.dq = columns(r.out(static_cast<size_t>(sources[0])), settings_.q_offset);
  g.dk = columns(r.out(static_cast<size_t>(sources[1])), settings_.k_offset);
  g.dv = columns(r.out(static_cast<size_t>(sources[2])), settings_.v_offset);
  size_t next = static_cast<size_t>(*std::max_element(sources.begin(), sources.end())) + 1;
  if (r.has(kRelative)) g.drelative = r.out(next++).f32();
  if (r.has(kU)) g.du = r.out(next++).f32();
  if (r.has(kW)) g.dw = r.out(next++).f32();
  kernels::attention_backward(g);
}

std::vector<OpEntry> attention_ops() { return {entry<Attention>(), entry<AttentionBackward>()}; }

}  // namespace heed::ops
