#include "heed/search/worth/design.h"

#include <cmath>
#include <map>
#include <set>

#include "heed/base/philox.h"

namespace heed::search {
namespace {

constexpr int64_t kDraws = 6000;
constexpr size_t kMostKinds = 3;   // of layers in a model
constexpr double kCheap = 0.25;    // power of the cost that a (squared) distance must be worth
constexpr double kParameters = 2;  // the weight of parameters, compared with one other property

template <class T>
const T& any_of(const std::vector<T>& values, Rng& rng) {
  return values[static_cast<size_t>(rng.below(static_cast<int64_t>(values.size())))];
}

// Few kinds of layers, each with one choice of sizes, and small depths as often as large ones: of models
// drawn gene by gene nearly all would be deep and mixed.
spec::Candidate draw(const spec::Space& space, const std::vector<spec::Frame>& frames, Rng& rng) {
  spec::Candidate drawn;
  drawn.frame = any_of(frames, rng);
  const std::vector<spec::Layer> options = space.options(drawn.frame.width);
  std::vector<spec::Layer> kinds;
  for (int64_t left = 1 + rng.below(kMostKinds); left > 0; --left) kinds.push_back(any_of(options, rng));
  const auto [least, most] = std::minmax_element(space.layers.begin(), space.layers.end());
  const double wanted = rng.uniform(std::log(static_cast<double>(*least)), std::log(*most + 1.0));
  int64_t depth = *least;
  for (const int64_t layers : space.layers) {
    if (std::log(static_cast<double>(layers)) <= wanted) depth = std::max(depth, layers);
  }
  for (int64_t i = 0; i < depth; ++i) drawn.layers.push_back(any_of(kinds, rng));
  std::sort(drawn.layers.begin(), drawn.layers.end());
  return drawn;
}

double log_of(int64_t value) { return std::log(static_cast<double>(std::max<int64_t>(1, value))); }

// What models should differ in.
std::vector<double> properties(const spec::Space& space, const spec::Candidate& candidate, const Cost& cost) {
  const auto depth = static_cast<double>(candidate.layers.size());
  std::vector<double> values = {log_of(cost.decoder), std::log(depth), log_of(candidate.frame.width),
                                log_of(candidate.frame.vocabulary), log_of(candidate.frame.embedding_width)};
  for (size_t kind = 0; kind < space.layer.size(); ++kind) {
    values.push_back(static_cast<double>(std::ranges::count(candidate.layers, static_cast<int64_t>(kind),
                                                            &spec::Layer::kind)) /
                     depth);
  }
  for (size_t size = 0; size < spec::sizes().size(); ++size) {
    double sum = 0, having = 0;
    for (const spec::Layer& layer : candidate.layers) {
      if (layer.sizes[size] > 0) sum += log_of(layer.sizes[size]), ++having;
    }
    values.push_back(having > 0 ? sum / having : NAN);
  }
  return values;
}

// Each property with mean 0 and deviation 1; where a model does not have it, it is as the mean.
void normalise(std::vector<std::vector<double>>& rows) {
  for (size_t column = 0; column < rows[0].size(); ++column) {
    double sum = 0, squares = 0, count = 0;
    for (const auto& row : rows) {
      if (!std::isnan(row[column])) sum += row[column], squares += row[column] * row[column], ++count;
    }
    const double mean = count > 0 ? sum / count : 0;
    const double deviation = count > 0 ? std::sqrt(std::max(0.0, squares / count - mean * mean)) : 0;
    const double weight = (column == 0 ? kParameters : 1) / (deviation > 1e-9 ? deviation : INFINITY);
    for (auto& row : rows) row[column] = std::isnan(row[column]) ? 0 : weight * (row[column] - mean);
  }
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

std::vector<spec::Candidate> designed_sample(const spec::Space& space, GraphCosts& costs, int64_t count,
                                             int64_t most_total, int64_t seed) {
  std::vector<spec::Frame> frames;
  for (const spec::Frame& frame : space.frames()) {
    if (!space.options(frame.width).empty()) frames.push_back(frame);
  }
  Rng rng(static_cast<uint64_t>(seed));
  std::set<spec::Candidate> seen;
  std::vector<spec::Candidate> pool;
  std::vector<std::vector<double>> rows;
  std::vector<double> worth_it;
  for (int64_t draws = 0; draws < kDraws && !frames.empty(); ++draws) {
    const spec::Candidate candidate = draw(space, frames, rng);
    const Cost cost = costs.of(candidate);
    if (cost.total > most_total || !space.allows_size(cost.decoder, cost.total) ||
        !seen.insert(candidate).second)
      continue;
    pool.push_back(candidate);
    worth_it.push_back(std::pow(static_cast<double>(cost.total), -kCheap));
    rows.push_back(properties(space, candidate, cost));
  }
  if (pool.empty()) return {};
  count = std::min(count, static_cast<int64_t>(pool.size()));
  normalise(rows);
  // The first is in the middle.
  std::vector<double> nearest(pool.size(), INFINITY);
  size_t next = 0;
  const std::vector<double> middle(rows[0].size(), 0.0);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (distance(rows[i], middle) < distance(rows[next], middle)) next = i;
  }
  std::vector<spec::Candidate> chosen;
  while (static_cast<int64_t>(chosen.size()) < count) {
    chosen.push_back(pool[next]);
    for (size_t i = 0; i < rows.size(); ++i) nearest[i] = std::min(nearest[i], distance(rows[i], rows[next]));
    nearest[next] = -1;  // not again
    // Narrow models with few words are cheap; without a share for each width and vocabulary nearly all would
    // be.
    std::map<int64_t, double> widths, vocabularies;
    for (const auto& [frame, layers] : chosen) ++widths[frame.width], ++vocabularies[frame.vocabulary];
    const auto gain = [&](size_t i) {
      const spec::Frame& frame = pool[i].frame;
      return nearest[i] * worth_it[i] / (1 + widths[frame.width]) / (1 + vocabularies[frame.vocabulary]);
    };
    for (size_t i = 0; i < rows.size(); ++i) {
      if (gain(i) > gain(next)) next = i;
    }
  }
  return chosen;
}

}  // namespace heed::search
