#include "tests/support/oracle.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "heed/base/threads.h"
#include "heed/graph/program.h"
#include "heed/kernels/isa.h"
#include "heed/ops/ops.h"

namespace heed::test {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Role;
using graph::ValueId;

constexpr const char* kPython = "/usr/bin/python3";  // Debian's, the one that python3-torch belongs to
constexpr int kNoTorch = 3;                          // exit code of tests/oracle/run.py

uint64_t seed_of(const std::string& name) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a: the same on every machine
  for (unsigned char c : name) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

Json shape_json(const Shape& shape) {
  Json dims = Json::array();
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
  return dims;
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
  std::vector<double> values;
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

  Built build(const Way& way) const;
  // False, with the failures reported, if anything is off.
  bool check(const Way& way, Worst& worst) const;
  // `expected` is multiplied by `times`.
  bool compare(const std::string& where, const Answer& expected, double times,
               const std::vector<float>& actual, Worst& worst) const;
  Results run(const Built& built, graph::Program& program, graph::Variables& variables) const;
};

double oracle_bound(int64_t length, double size) {
  const double roundings = 4 + std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
  return roundings * std::numeric_limits<float>::epsilon() * size;
}

bool oracle_required() {
  const char* wish = std::getenv("HEED_REQUIRE_ORACLE");
  return wish && std::string(wish) == "1";
}

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

Results OracleCases::Entry::run(const Built& built, graph::Program& program,
                                graph::Variables& variables) const {
  for (size_t i = 0; i < built.inputs.size(); ++i) {
    const ValueId id = built.inputs[i];
    if (!id) continue;
    const bool variable = given.inputs[i].role != Role::kInput;
    fill(variable ? variables.at(program.graph().value(id).name) : program.tensor(id), given.inputs[i]);
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
    const Results one = run(built, program, variables);
    set_thread_count(2);
    set_work_worth_a_thread(0);  // however small, every loop is shared
    const Results two = run(built, program, variables);
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
  double largest = 0;
  for (double value : expected.values) largest = std::fmax(largest, std::abs(value));  // fmax passes over NaN
  const double bound =
      times * given.conditioning * oracle_bound(given.length, std::max(given.floor, largest));
  double worst_error = 0;
  int64_t worst_at = -1, wrong = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected.values[i])) continue;  // not specified
    const double error = std::abs(static_cast<double>(actual[i]) - times * expected.values[i]);
    if (!(error <= bound)) ++wrong;
    if (worst_at < 0 || !(error <= worst_error)) {
      worst_error = error;
      worst_at = static_cast<int64_t>(i);
    }
  }
  const double ratio = worst_error == 0 ? 0 : worst_error / bound;
  if (!(ratio <= worst.ratio)) worst = {ratio, where};
  if (wrong > 0) {
    ADD_FAILURE() << where << ": " << wrong << " of " << actual.size() << " numbers are off; the worst, at "
                  << index_text(expected.shape, worst_at) << ":\n  expected "
                  << digits(times * expected.values[static_cast<size_t>(worst_at)]) << "\n  actual   "
                  << digits(actual[static_cast<size_t>(worst_at)]) << "\n  error    " << digits(worst_error)
                  << ", allowed " << digits(bound) << " (sums of " << given.length << ", largest "
                  << digits(largest) << ")";
  }
  return wrong == 0;
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

void OracleCases::write(const std::string& directory) const {
  std::ofstream numbers_file(directory + "/numbers.bin", std::ios::binary);
  int64_t offset = 0;
  const auto put = [&](const void* data, const TensorType& type) {
    const Json at = {{"dtype", name_of(type.dtype)}, {"shape", shape_json(type.shape)}, {"offset", offset}};
    numbers_file.write(static_cast<const char*>(data), type.bytes());
    offset += type.bytes();
    return at;
  };
  Json cases = Json::array();
  for (const auto& entry : entries_) {
    if (!entry->refusal.empty()) continue;
    Json inputs = Json::array(), seeds = Json::array();
    for (const OracleInput& input : entry->given.inputs) {
      if (input.absent) {
        inputs.push_back(nullptr);
      } else if (input.same_as >= 0) {
        inputs.push_back({{"same_as", input.same_as}});
      } else {
        const bool real = input.type.dtype == DType::kF32;
        Json at = put(real ? static_cast<const void*>(input.floats.data()) : input.ints.data(), input.type);
        at["gradient"] = input.gradient;
        inputs.push_back(at);
      }
    }
    for (size_t i = 0; i < entry->outputs.size(); ++i) {
      const auto& seeded = entry->given.seeded;
      const bool has_seed = std::find(seeded.begin(), seeded.end(), i) != seeded.end();
      seeds.push_back(has_seed ? put(entry->seeds[i].data(), entry->outputs[i]) : Json());
    }
    cases.push_back({{"name", entry->given.name},
                     {"op", entry->given.op},
                     {"settings", entry->given.settings},
                     {"inputs", inputs},
                     {"output_gradients", seeds}});
  }
  std::ofstream(directory + "/cases.json") << Json{{"cases", cases}};
  if (!numbers_file.flush()) throw failure("oracle: cannot write to ", directory);
}

void OracleCases::read(const std::string& directory) {
  std::ifstream json_file(directory + "/answers.json"),
      values_file(directory + "/answers.bin", std::ios::binary);
  const Json answers = Json::parse(json_file);
  const auto take = [&](const Json& at) {
    Answer answer;
    if (at.is_null()) return answer;
    answer.shape = Shape(at.at("shape").get<std::vector<int64_t>>());
    answer.values.resize(static_cast<size_t>(answer.shape.elements()));
    values_file.seekg(at.at("offset").get<int64_t>());
    values_file.read(reinterpret_cast<char*>(answer.values.data()), 8 * answer.shape.elements());
    if (!values_file) throw failure("oracle: answers.bin is too short");
    return answer;
  };
  std::map<std::string, const Json*> by_name;
  for (const Json& answer : answers.at("cases")) by_name[answer.at("name")] = &answer;
  for (const auto& entry : entries_) {
    if (!entry->refusal.empty()) continue;
    const Json& answer = *by_name.at(entry->given.name);
    if (answer.contains("error")) {
      entry->trouble = answer["error"];
      continue;
    }
    for (const Json& at : answer.at("outputs")) entry->expected_outputs.push_back(take(at));
    for (const Json& at : answer.at("gradients")) entry->expected_gradients.push_back(take(at));
    if (entry->expected_outputs.size() != entry->outputs.size()) {
      entry->trouble = text(entry->expected_outputs.size(), " outputs, the op has ", entry->outputs.size());
    }
    for (size_t i = 0; i < entry->outputs.size() && entry->trouble.empty(); ++i) {
      const Shape &wanted = entry->expected_outputs[i].shape, &found = entry->outputs[i].shape;
      if (wanted != found)
        entry->trouble = text("output ", i, " is ", wanted.str(), ", the op's is ", found.str());
    }
  }
}

void OracleCases::run() {
  std::string directory = (std::filesystem::temp_directory_path() / "heed-oracle-XXXXXX").string();
  if (!mkdtemp(directory.data())) throw failure("oracle: cannot make ", directory);
  const bool keep = std::getenv("HEED_ORACLE_KEEP") != nullptr;
  write(directory);
  const std::string command = text(kPython, " -B '", HEED_SOURCE_DIR, "/tests/oracle/run.py' '", directory,
                                   "' > '", directory, "/log' 2>&1");
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::ifstream log_file(directory + "/log");
  const std::string log{std::istreambuf_iterator<char>(log_file), {}};
  missing_.clear();
  if (code == 0) {
    read(directory);
  } else if (code == kNoTorch || code == 127) {  // 127: no such program
    missing_ = text("ORACLE SKIPPED: no PyTorch for ", kPython, " (", log,
                    "); install python3-torch, nothing was compared");
    std::fprintf(stderr, "[  oracle  ] %s\n", missing_.c_str());
  }
  if (keep) {
    std::printf("[  oracle  ] cases and answers are in %s\n", directory.c_str());
  } else {
    std::filesystem::remove_all(directory);
  }
  if (code != 0 && missing_.empty()) throw failure("oracle: run.py failed (", code, "):\n", log);
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
