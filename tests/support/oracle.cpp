#include "tests/support/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>

#include "heed/base/threads.h"
#include "heed/graph/program.h"
#include "heed/kernels/isa.h"
#include "heed/ops/ops.h"
#include "tests/support/pytorch.h"
#include "tests/support/rounding.h"

namespace heed::test {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Role;
using graph::ValueId;
using Doubles = std::vector<double>;

uint64_t seed_of(const std::string& name) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a: the same on every machine
  for (unsigned char c : name) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

std::string index_text(const Shape& shape, int64_t flat) {
  std::string out;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    out = text(flat % shape.dim(i), out.empty() ? "" : ", ", out);
    flat /= shape.dim(i);
  }
  return "[" + out + "]";
}

std::string digits(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

// An answer: values in double. Empty where none was asked for.
struct Answer {
  Shape shape;
  Doubles values;
};

// One way to put the op into a graph.
struct Way {
  const char* name;
  bool gradients;
  bool in_place;   // inputs are computed and read by nobody else, so the op may overwrite them
  int copies;      // nodes with the same inputs and incoming gradients: gradients add up on the way
  int alone = -1;  // differentiate by this input only
};

struct Built {
  std::shared_ptr<Graph> graph;
  std::vector<ValueId> inputs;     // by input; kNone where absent or same_as
  std::vector<ValueId> seeds;      // by output; kNone where none
  std::vector<ValueId> outputs;    // of the first copy
  std::vector<ValueId> gradients;  // by input; kNone where no gradient reaches it
};

// The largest error found, as a share of what is allowed.
struct Worst {
  double ratio = 0;
  std::string where = "none";
};

struct Results {
  std::vector<std::vector<float>> outputs, gradients;
};

std::vector<float> copy_of(const Tensor& tensor) {
  const auto all = tensor.floats();
  return {all.begin(), all.end()};
}

void fill(const Tensor& tensor, const OracleInput& input) {
  if (input.type.dtype == DType::kF32) {
    std::copy(input.floats.begin(), input.floats.end(), tensor.f32());
  } else {
    std::copy(input.ints.begin(), input.ints.end(), tensor.i32());
  }
}

bool same(const std::string& where, const std::vector<float>& one, const std::vector<float>& two) {
  if (one.size() == two.size() && (one.empty() || std::memcmp(one.data(), two.data(), 4 * one.size()) == 0))
    return true;
  ADD_FAILURE() << where << ": 2 threads differ from 1";
  return false;
}

}  // namespace

struct OracleCases::Entry {
  std::string family;
  OracleCase given;
  std::vector<std::vector<float>> seeds;  // by output; empty where none
  std::vector<TensorType> outputs;
  std::string refusal;  // why there is no graph
  std::string trouble;  // why there is no answer
  std::vector<Answer> expected_outputs, expected_gradients;

  Json question(PyTorch& pytorch) const;
  void take(const PyTorch& pytorch);
  Built build(const Way& way) const;
  // False, with the failures reported, if anything is off.
  bool check(const Way& way, Worst& worst) const;
  // `expected` is multiplied by `times`.
  bool compare(const std::string& where, const Answer& expected, double times,
               const std::vector<float>& actual, Worst& worst) const;
  Results run(const Built& built, graph::Program& program) const;
};

OracleCases::OracleCases() = default;
OracleCases::~OracleCases() = default;

void OracleCases::add(const std::string& family, OracleCase given) {
  for (const auto& entry : entries_) HEED_ASSERT(entry->given.name != given.name);
  auto entry = std::make_unique<Entry>();
  entry->family = family;
  entry->given = std::move(given);
  try {
    const Built built = entry->build({"", false, false, 1});
    for (ValueId id : built.outputs) entry->outputs.push_back(built.graph->value(id).type);
    entry->seeds.resize(entry->outputs.size());
    Rng rng(seed_of(entry->given.name), 1);
    for (size_t output : entry->given.seeded) {
      if (output >= entry->outputs.size()) throw usage_error("there is no output ", output);
      for (int64_t i = 0; i < entry->outputs[output].shape.elements(); ++i) {
        entry->seeds[output].push_back(static_cast<float>(rng.normal()));
      }
    }
  } catch (const std::exception& error) {
    entry->refusal = error.what();
  }
  entries_.push_back(std::move(entry));
}

Built OracleCases::Entry::build(const Way& way) const {
  Built built;
  built.graph = std::make_shared<Graph>();
  Graph& g = *built.graph;
  const auto computed = [&](ValueId id) { return ops::add(g, "scale", {id, kNone}, {{"factor", 1}})[0]; };

  std::vector<ValueId> arguments, wrt;
  for (size_t i = 0; i < given.inputs.size(); ++i) {
    const OracleInput& input = given.inputs[i];
    ValueId id = kNone;
    const std::string name = text("input ", i);
    if (!input.absent && input.same_as < 0) {
      id = input.role == Role::kInput       ? g.input(name, input.type.shape, input.type.dtype)
           : input.role == Role::kParameter ? g.parameter(name, input.type.shape)
                                            : g.state(name, input.type.shape, input.type.dtype);
    }
    built.inputs.push_back(id);
    if (id && input.gradient && (way.alone < 0 || way.alone == static_cast<int>(i))) wrt.push_back(id);
    const bool by_way = id && way.in_place && input.role == Role::kInput && input.type.dtype == DType::kF32;
    arguments.push_back(input.same_as >= 0 ? arguments[static_cast<size_t>(input.same_as)]
                        : by_way           ? computed(id)
                                           : id);
  }

  std::vector<std::vector<ValueId>> copies;
  for (int copy = 0; copy < way.copies; ++copy)
    copies.push_back(ops::add(g, given.op, arguments, given.settings));
  for (ValueId id : copies[0]) g.mark_output(id);
  const size_t output_count = copies[0].size();

  if (way.gradients) {
    std::map<ValueId, ValueId> incoming;
    for (size_t i = 0; i < output_count; ++i) {
      const bool seeded = std::find(given.seeded.begin(), given.seeded.end(), i) != given.seeded.end();
      built.seeds.push_back(seeded ? g.input(text("seed ", i), outputs[i].shape) : kNone);
      if (!seeded) continue;
      for (const auto& copy : copies)
        incoming[copy[i]] = way.in_place ? computed(built.seeds[i]) : built.seeds[i];
    }
    const auto gradients = ops::gradients(g, incoming, wrt);
    for (ValueId id : built.inputs) {
      const auto found = id ? gradients.find(id) : gradients.end();
      built.gradients.push_back(found == gradients.end() ? kNone : found->second);
      if (built.gradients.back()) g.mark_output(built.gradients.back());
    }
  }
  // Differentiating may have given the place of an output to a value made in the backward pass.
  built.outputs.assign(g.outputs().begin(), g.outputs().begin() + static_cast<std::ptrdiff_t>(output_count));
  g.tidy();
  return built;
}

Results OracleCases::Entry::run(const Built& built, graph::Program& program) const {
  for (size_t i = 0; i < built.inputs.size(); ++i) {
    if (built.inputs[i]) fill(program.tensor(built.inputs[i]), given.inputs[i]);
  }
  for (size_t i = 0; i < built.seeds.size(); ++i) {
    if (built.seeds[i]) std::copy(seeds[i].begin(), seeds[i].end(), program.tensor(built.seeds[i]).f32());
  }
  program.run();
  Results results;
  for (ValueId id : built.outputs) results.outputs.push_back(copy_of(program.tensor(id)));
  for (ValueId id : built.gradients)
    results.gradients.push_back(id ? copy_of(program.tensor(id)) : std::vector<float>());
  return results;
}

bool OracleCases::Entry::check(const Way& way, Worst& worst) const {
  const Built built = build(way);
  graph::Variables variables;
  graph::Program program(built.graph, variables);
  bool good = true;
  for (const kernels::Isa isa : {kernels::Isa::kV3, kernels::Isa::kV4}) {
    if (!kernels::supported(isa)) continue;
    kernels::force_isa(isa);
    const std::string where = text(given.name, " (", way.name, ", ", kernels::name_of(isa), ")");
    set_thread_count(1);
    const Results one = run(built, program);
    set_thread_count(2);
    set_work_worth_a_thread(0);  // however small, every loop is shared
    const Results two = run(built, program);
    for (size_t i = 0; i < one.outputs.size(); ++i) {
      const std::string what = text(where, ", output ", i);
      good &= compare(what, expected_outputs[i], 1, one.outputs[i], worst) &
              same(what, one.outputs[i], two.outputs[i]);
    }
    for (size_t i = 0; i < one.gradients.size(); ++i) {
      if (!given.inputs[i].gradient || (way.alone >= 0 && way.alone != static_cast<int>(i))) continue;
      const std::string what = text(where, ", gradient of input ", i);
      // Where nothing reached it the gradient is 0 everywhere.
      const std::vector<float> zeros(expected_gradients[i].values.size());
      const std::vector<float>& actual = built.gradients[i] ? one.gradients[i] : zeros;
      good &= compare(what, expected_gradients[i], way.copies, actual, worst) &
              same(what, one.gradients[i], two.gradients[i]);
    }
  }
  return good;
}

bool OracleCases::Entry::compare(const std::string& where, const Answer& expected, double times,
                                 const std::vector<float>& actual, Worst& worst) const {
  if (expected.values.size() != actual.size()) {
    ADD_FAILURE() << where << ": " << expected.values.size() << " numbers expected, " << actual.size()
                  << " found";
    return false;
  }
  Doubles wanted, found;
  for (size_t i = 0; i < actual.size(); ++i) {
    const bool specified = !std::isnan(expected.values[i]);
    wanted.push_back(specified ? times * expected.values[i] : 0);
    found.push_back(specified ? actual[i] : 0);
  }
  const Deviation off = deviation(found, wanted);
  const double bound =
      given.conditioning * rounding_bound(given.length) * std::max(times * given.floor, off.largest);
  const double ratio = off.error == 0 ? 0 : off.error / bound;
  if (!(ratio <= worst.ratio)) worst = {ratio, where};
  if (ratio <= 1) return true;
  ADD_FAILURE() << where << ": the worst of " << actual.size() << " numbers, at "
                << index_text(expected.shape, static_cast<int64_t>(off.at)) << ":\n  expected "
                << digits(wanted[off.at]) << "\n  actual   " << digits(actual[off.at]) << "\n  error    "
                << digits(off.error) << ", allowed " << digits(bound) << " (sums of " << given.length
                << ", largest " << digits(off.largest) << ")";
  return false;
}

std::set<std::string> OracleCases::reached() const {
  std::set<std::string> kinds;
  for (const auto& entry : entries_) {
    if (!entry->refusal.empty()) continue;
    // Both graphs: differentiating may replace the forward node by one that does everything at once.
    for (const bool gradients : {false, !entry->given.seeded.empty()}) {
      const Built built = entry->build({"", gradients, false, 1});
      for (const graph::Node& node : built.graph->nodes()) kinds.insert(std::string(node.op->kind()));
    }
  }
  return kinds;
}

Json OracleCases::Entry::question(PyTorch& pytorch) const {
  Json inputs = Json::array(), output_gradients = Json::array();
  for (const OracleInput& input : given.inputs) {
    if (input.absent) {
      inputs.push_back(nullptr);
    } else if (input.same_as >= 0) {
      inputs.push_back({{"same_as", input.same_as}});
    } else {
      const bool real = input.type.dtype == DType::kF32;
      inputs.push_back(pytorch.write(real ? static_cast<const void*>(input.floats.data()) : input.ints.data(),
                                     input.type));
      inputs.back()["gradient"] = input.gradient;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool seeded = std::find(given.seeded.begin(), given.seeded.end(), i) != given.seeded.end();
    output_gradients.push_back(seeded ? pytorch.write(seeds[i].data(), outputs[i]) : Json());
  }
  return {{"name", given.name},
          {"op", given.op},
          {"settings", given.settings},
          {"inputs", inputs},
          {"output_gradients", output_gradients}};
}

void OracleCases::Entry::take(const PyTorch& pytorch) {
  const auto read = [&](const Json& at) {
    if (at.is_null()) return Answer();
    return Answer{Shape(at.at("shape").get<std::vector<int64_t>>()), pytorch.read(at)};
  };
  const Json& answer = pytorch.answer(given.name);
  for (const Json& at : answer.at("outputs")) expected_outputs.push_back(read(at));
  for (const Json& at : answer.at("gradients")) expected_gradients.push_back(read(at));
  if (expected_outputs.size() != outputs.size())
    throw std::runtime_error(text(expected_outputs.size(), " outputs, the op has ", outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape &wanted = expected_outputs[i].shape, &found = outputs[i].shape;
    if (wanted != found)
      throw std::runtime_error(text("output ", i, " is ", wanted.str(), ", the op's is ", found.str()));
  }
}

void OracleCases::run() {
  PyTorch pytorch("ops.py");
  Json cases = Json::array();
  for (const auto& entry : entries_) {
    if (entry->refusal.empty()) cases.push_back(entry->question(pytorch));
  }
  pytorch.ask(cases);
  missing_ = pytorch.missing();
  for (const auto& entry : entries_) {
    if (!missing_.empty() || !entry->refusal.empty()) continue;
    try {
      entry->take(pytorch);
    } catch (const std::exception& error) {
      entry->trouble = error.what();
    }
  }
}

void OracleCases::check(const std::string& family) {
  const int threads_before = thread_count();
  const kernels::Isa isa_before = kernels::isa();
  Worst worst;
  std::set<std::string> told;
  int count = 0;
  for (const auto& entry : entries_) {
    if (entry->family != family) continue;
    ++count;
    const OracleCase& given = entry->given;
    if (!entry->refusal.empty() || !entry->trouble.empty()) {
      const std::string why =
          entry->refusal.empty() ? "the oracle failed: " + entry->trouble : entry->refusal;
      if (told.insert(why).second)
        ADD_FAILURE() << given.name << ": " << why;  // once for all cases of a missing op
      continue;
    }
    std::vector<Way> ways = {{"forward", false, false, 1}, {"forward in place", false, true, 1}};
    if (!given.seeded.empty()) {
      ways.insert(
          ways.end(),
          {{"gradients", true, false, 1}, {"in place", true, true, 1}, {"used twice", true, false, 2}});
      for (size_t i = 0; i < given.inputs.size(); ++i) {
        if (given.inputs[i].gradient)
          ways.push_back({"one gradient alone", true, false, 1, static_cast<int>(i)});
      }
    }
    for (const Way& way : ways) {
      try {
        if (!entry->check(way, worst)) break;  // the other ways would repeat the complaint
      } catch (const std::exception& error) {
        ADD_FAILURE() << given.name << " (" << way.name << "): " << error.what();
      }
    }
  }
  set_thread_count(threads_before);
  set_work_worth_a_thread(kWorkWorthAThread);
  kernels::force_isa(isa_before);
  EXPECT_GT(count, 0) << "no cases of family " << family;
  std::printf("[  oracle  ] %s: %d cases, worst error %.2f of the bound: %s\n", family.c_str(), count,
              worst.ratio, worst.where.c_str());
}

}  // namespace heed::test
