#include "heed/model/weights.h"

#include <algorithm>
#include <cmath>

#include "heed/base/philox.h"
#include "heed/base/threads.h"

namespace heed::model {
namespace {

// make(u0, u1) -> two numbers from two uniform ones in (0, 1). Elements 4i .. 4i+3 come from counter i.
template <class Make>
void fill(const Tensor& tensor, uint64_t seed, uint32_t stream, const Make& make) {
  const auto out = tensor.floats();
  const int64_t blocks = (static_cast<int64_t>(out.size()) + 3) / 4;
  parallel_range(blocks, threads_for(100.0 * static_cast<double>(blocks)), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto words =
          philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), stream, 0x1417},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
      float four[4];
      for (int pair = 0; pair < 4; pair += 2)
        make((words[pair] + 0.5) * 0x1p-32, (words[pair + 1] + 0.5) * 0x1p-32, four + pair);
      for (int64_t i = 0; i < 4 && 4 * block + i < static_cast<int64_t>(out.size()); ++i)
        out[static_cast<size_t>(4 * block + i)] = four[i];
    }
  });
}

void fill(const Tensor& tensor, const Initial& initial, uint64_t seed, uint32_t stream) {
  if (initial.spread == 0) {
    const auto all = tensor.floats();
    const size_t zeros = initial.kind == Initial::Kind::kSecondHalf ? all.size() / 2 : 0;
    std::fill_n(all.begin(), zeros, 0.f);
    std::fill(all.begin() + static_cast<std::ptrdiff_t>(zeros), all.end(), static_cast<float>(initial.mean));
  } else if (initial.kind == Initial::Kind::kUniform) {
    fill(tensor, seed, stream, [&](double u0, double u1, float* two) {
      two[0] = static_cast<float>(initial.mean + initial.spread * (2 * u0 - 1));
      two[1] = static_cast<float>(initial.mean + initial.spread * (2 * u1 - 1));
    });
  } else {
    fill(tensor, seed, stream, [&](double u0, double u1, float* two) {  // Box and Muller
      const double radius = initial.spread * std::sqrt(-2 * std::log(u0)), angle = 6.283185307179586 * u1;
      two[0] = static_cast<float>(initial.mean + radius * std::cos(angle));
      two[1] = static_cast<float>(initial.mean + radius * std::sin(angle));
    });
  }
}

uint32_t stream_of(const std::string& name) {  // Fowler, Noll and Vo's hash
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

Initial xavier(int64_t in, int64_t out, double scale) {
  return uniform(scale * std::sqrt(6.0 / static_cast<double>(in + out)));
}

Source first_weights(const Weights& weights, uint64_t seed) {
  return [plain = weights.plain, seed](const std::string& name, const Tensor& into) {
    fill(into, plain.at(name).initial, seed, stream_of(name));
  };
}

namespace {

constexpr int64_t kStripBytes = 256 << 10;

int64_t rows_of_strip(const Shape& matrix) {
  const int64_t rows =
      std::max<int64_t>(1, kStripBytes / (4 * std::max<int64_t>(1, matrix.dim(1)) * kStripRows));
  return std::min(matrix.dim(0), rows * kStripRows);
}

int64_t strip_bytes(const Shape& matrix) { return 4 * rows_of_strip(matrix) * matrix.dim(1); }

void add_strips(const Derived& derived, const Shape& shape, const Source& source, const Tensor& to) {
  const int64_t rows = rows_of_strip(shape);
  const Buffer strip(strip_bytes(shape));
  for (int64_t first = 0; first < shape.dim(0); first += rows) {
    const Tensor some{strip.data(), TensorType{{std::min(rows, shape.dim(0) - first), shape.dim(1)}}};
    source.rows(derived.from[0], shape, first, some);
    derived.add_rows(some, first, to);
  }
}

}  // namespace

int64_t loading_bytes(const Weights& weights) {
  int64_t most = 0;
  for (const auto& [name, derived] : weights.derived) {
    int64_t bytes = derived.scratch;
    for (const std::string& ingredient : derived.from) {
      const Shape& shape = weights.plain.at(ingredient).shape;
      bytes += derived.add_rows ? strip_bytes(shape) : TensorType{shape}.bytes();
    }
    most = std::max(most, bytes);
  }
  return most;
}

void fill_weights(const graph::Graph& graph, const Weights& weights, graph::NamedTensors& parameters,
                  const Source& source) {
  parameters.allocate(graph, graph::Role::kParameter);
  for (graph::ValueId id : graph.of_role(graph::Role::kParameter)) {
    const std::string& name = graph.value(id).name;
    const auto derived = weights.derived.find(name);
    if (derived == weights.derived.end()) {
      source(name, parameters.at(name));
      continue;
    }
    const Derived& rule = derived->second;
    if (rule.add_rows && source.reads_rows()) {
      add_strips(rule, weights.plain.at(rule.from[0]).shape, source, parameters.at(name));
      continue;
    }
    std::vector<Buffer> buffers;
    std::vector<Tensor> from;
    for (const std::string& ingredient : rule.from) {
      const TensorType type{weights.plain.at(ingredient).shape};
      buffers.emplace_back(type.bytes());
      from.push_back({buffers.back().data(), type});
      source(ingredient, from.back());
    }
    rule.add_rows ? rule.add_rows(from[0], 0, parameters.at(name)) : rule.make(from, parameters.at(name));
  }
}

void open_gates(const Weights& weights, const graph::NamedTensors& parameters) {
  for (const auto& [name, weight] : weights.plain) {
    if (weight.initial.kind != Initial::Kind::kClosedGate || !parameters.contains(name)) continue;
    std::ranges::fill(parameters.at(name).floats(), 1.f);
  }
}

}  // namespace heed::model
