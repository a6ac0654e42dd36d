// What a model's weights are: where their first values come from, what part of the model they belong to, and
// how weights for inference are made from plain ones.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/fields.h"
#include "heed/graph/program.h"

namespace heed {

enum class Part { kEmbedding, kAttention, kFeedForward, kRecurrence, kNorm, kChoice, kOutput };
template <>
struct EnumNames<Part> {
  static constexpr std::pair<Part, const char*> names[] = {{Part::kEmbedding, "embedding"},
                                                           {Part::kAttention, "attention"},
                                                           {Part::kFeedForward, "feed-forward"},
                                                           {Part::kRecurrence, "recurrence"},
                                                           {Part::kNorm, "norm"},
                                                           {Part::kChoice, "choice"},
                                                           {Part::kOutput, "output"}};
};

}  // namespace heed

namespace heed::model {

// The distribution of a weight before training: N(mean, spread) or U(mean - spread, mean + spread); a spread
// of 0 is a constant. kSecondHalf: 0 in the first half of the elements, `mean` in the second.
struct Initial {
  enum class Kind { kNormal, kUniform, kSecondHalf } kind = Kind::kNormal;
  double mean = 0;
  double spread = 0;
};
inline Initial constant(double value) { return {Initial::Kind::kNormal, value, 0}; }
inline Initial normal(double deviation, double mean = 0) { return {Initial::Kind::kNormal, mean, deviation}; }
inline Initial uniform(double bound) { return {Initial::Kind::kUniform, 0, bound}; }
inline Initial second_half(double value) { return {Initial::Kind::kSecondHalf, value, 0}; }
Initial xavier(int64_t in, int64_t out, double scale = 1);  // Glorot and Bengio 2010, the uniform one

// A plain weight, as a file or a training run holds it.
struct Weight {
  Shape shape;
  Part part;
  Initial initial;
};

// A weight of an inference graph that is made from plain ones: packed, joined, multiplied out.
struct Derived {
  std::vector<std::string> from;
  std::function<void(const std::vector<Tensor>& from, const Tensor& to)> make;
};

struct Weights {
  std::map<std::string, Weight> plain;
  std::map<std::string, Derived> derived;  // by the name of the graph's parameter
};

// Fills a plain weight by name.
using Source = std::function<void(const std::string& name, const Tensor& into)>;

// New weights: the same numbers for any number of threads and whatever else the model holds, because each
// weight's stream of random numbers is chosen by its name.
Source first_weights(const Weights& weights, uint64_t seed);
// Fills every parameter of the graph; derived ones one after the other, so that little more memory is needed
// than the graph's own.
void fill_weights(const graph::Graph& graph, const Weights& weights, graph::Variables& variables,
                  const Source& source);

}  // namespace heed::model
