// The weights of a model: their initial values, the group they belong to, and how weights for
// inference are made from plain ones.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/base/fields.h"
#include "heed/graph/program.h"

namespace heed {

enum class WeightGroup { kEmbedding, kAttention, kFeedForward, kRecurrence, kNorm, kChoice, kOutput };
template <>
struct EnumNames<WeightGroup> {
  static constexpr std::pair<WeightGroup, const char*> names[] = {{WeightGroup::kEmbedding, "embedding"},
                                                                  {WeightGroup::kAttention, "attention"},
                                                                  {WeightGroup::kFeedForward, "feed-forward"},
                                                                  {WeightGroup::kRecurrence, "recurrence"},
                                                                  {WeightGroup::kNorm, "norm"},
                                                                  {WeightGroup::kChoice, "choice"},
                                                                  {WeightGroup::kOutput, "output"}};
};

}  // namespace heed

namespace heed::model {

// The distribution of a weight before training: N(mean, spread) or U(mean - spread, mean + spread); a spread
// of 0 is a constant. kSecondHalf: 0 in the first half of the elements, `mean` in the second. kClosedGate: 0,
// a factor that training opens; until then what it multiplies does nothing.
struct Initial {
  enum class Kind { kNormal, kUniform, kSecondHalf, kClosedGate } kind = Kind::kNormal;
  double mean = 0;
  double spread = 0;
};
inline Initial constant(double value) { return {Initial::Kind::kNormal, value, 0}; }
inline Initial normal(double deviation, double mean = 0) { return {Initial::Kind::kNormal, mean, deviation}; }
inline Initial uniform(double bound) { return {Initial::Kind::kUniform, 0, bound}; }
inline Initial second_half(double value) { return {Initial::Kind::kSecondHalf, value, 0}; }
inline Initial closed_gate() { return {Initial::Kind::kClosedGate, 0, 0}; }
Initial xavier(int64_t in, int64_t out, double scale = 1);  // Glorot and Bengio 2010, the uniform one

// The layers that a weight belongs to, for what counts by layer: the norms of LAMB, and scores of whole maps.
// A layer is a tensor of the model's public code, however its elements are stored here.
struct Layer {
  std::string name = {};           // weights of one name are one layer; empty: a layer of its own
  std::vector<int64_t> ends = {};  // the weight is several layers, which end at these elements; empty: one
};

// A plain weight, as a file or a training run holds it.
struct Weight {
  Shape shape;
  WeightGroup group;
  Initial initial;
  Layer layer = {};
};

// A weight of an inference graph that is made from plain ones: packed, joined, multiplied out.
struct Derived {
  std::vector<std::string> from;
  std::function<void(const std::vector<Tensor>& from, const Tensor& to)> make;
  int64_t scratch = 0;  // bytes that making it takes besides
  // Instead of `make`, if `from` is one matrix: adds some of its rows, the first of which is a multiple of
  // kStripRows, so that it need never be in memory as a whole.
  std::function<void(const Tensor& rows, int64_t first, const Tensor& to)> add_rows = {};
};
inline constexpr int64_t kStripRows = 64;

struct Weights {
  std::map<std::string, Weight> plain;
  std::map<std::string, Derived> derived;  // by the name of the graph's parameter
};

// Fills a plain weight by name, or some rows of it from `first` on. Made of a function of (name, into), or of
// (name, whole, first, into), with the shape of the whole weight, if it can read rows alone.
class Source {
 public:
  Source() = default;  // none
  template <class Read>
  requires(!std::same_as<std::remove_cvref_t<Read>, Source>) Source(Read read) {
    if constexpr (std::invocable<Read&, const std::string&, const Shape&, int64_t, const Tensor&>) {
      rows_ = std::move(read);
    } else {
      whole_ = std::move(read);
    }
  }

  void operator()(const std::string& name, const Tensor& into) const {
    rows_ ? rows_(name, into.shape(), 0, into) : whole_(name, into);
  }
  explicit operator bool() const { return rows_ || whole_; }
  bool reads_rows() const { return rows_ != nullptr; }
  void rows(const std::string& name, const Shape& whole, int64_t first, const Tensor& into) const {
    rows_(name, whole, first, into);
  }

 private:
  std::function<void(const std::string& name, const Tensor& into)> whole_;
  std::function<void(const std::string& name, const Shape& whole, int64_t first, const Tensor& into)> rows_;
};

// New weights: the same numbers for any number of threads and whatever else the model holds, because each
// weight's random stream is chosen by its name.
Source first_weights(const Weights& weights, uint64_t seed);
// What filling the weights takes at most beyond the graph's own memory, in bytes.
int64_t loading_bytes(const Weights& weights);
// Fills every parameter of the graph; derived ones one after the other, so that little memory is needed
// beyond the graph's own.
void fill_weights(const graph::Graph& graph, const Weights& weights, graph::NamedTensors& parameters,
                  const Source& source);

// Sets every closed gate to 1, so that the whole model computes, for timing.
void open_gates(const Weights& weights, const graph::NamedTensors& parameters);

}  // namespace heed::model
