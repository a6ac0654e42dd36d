// Scores of untrained models against PyTorch in double (tests/oracle/proxies.py).
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "heed/base/philox.h"
#include "heed/search/proxies/activation_scores.h"
#include "heed/search/proxies/probe.h"
#include "heed/search/proxies/sample.h"
#include "heed/search/proxies/spectrum.h"
#include "tests/support/letters_case.h"
#include "tests/support/rounding.h"

namespace heed::search {
namespace {

constexpr int64_t kSequences = 4, kLength = 7;

spec::ModelSpec model(const std::string& json) { return spec::read_model_spec(Json::parse(json), "t"); }

// Both backbones, with one table and with several, projected and not.
std::map<std::string, spec::ModelSpec> models() {
  return {{"transformer-xl",
           model(R"({"backbone": "transformer-xl", "arch": "(sf)x2", "width": 12, "heads": [2, 4],
             "inner": [20, 28], "shared_position_bias": false, "vocabulary": 40, "cutoffs": [10, 22], "division": 2,
             "tie_projections": [false, true, true], "dropout": 0, "deviation": 0.3})")},
          {"one table", model(R"({"backbone": "transformer-xl", "arch": "(sf)x2", "width": 12, "heads": [2],
             "inner": [20], "shared_position_bias": false, "vocabulary": 40, "cutoffs": [10], "embedding_width": 6,
             "tie_projections": [false, true], "dropout": 0, "deviation": 0.3})")},
          {"gpt2", model(R"({"backbone": "gpt2", "arch": "(sf)x3", "width": 12, "heads": [2, 4, 3],
             "inner": [20, 28, 16], "vocabulary": 40, "context": 9, "dropout": 0, "deviation": 0.3})")}};
}

// Texts that begin differently: equal tokens would make a determinant 0.
ProxyInput batch_for(const spec::ModelSpec& spec) {
  ProxyInput batch = drawn_batch(spec, kSequences, kLength);
  for (int64_t i = 0; i < kSequences; ++i)
    batch.tokens[static_cast<size_t>(i * kLength)] = static_cast<int32_t>(9 * i + 1);
  return batch;
}

TEST(Proxies, AreThoseOfPyTorch) {
  test::PyTorch pytorch("proxies.py");
  Json questions = Json::array();
  for (const auto& [name, spec] : models()) {
    const ProxyInput batch = batch_for(spec);
    const model::Weights weights = model::weights_of(spec);
    const std::vector<double> map = random_map(spec.embedding.vocabulary, batch.seed);
    const std::vector<float> random(map.begin(), map.end());
    const auto ids = [&](const std::vector<int32_t>& all) {
      return pytorch.write(all.data(), {{kSequences, kLength}, DType::kI32});
    };
    questions.push_back(
        {{"name", name},
         {"settings", test::letters_settings(spec)},
         {"parameters", test::write_weights(pytorch, weights, model::first_weights(weights, batch.seed))},
         {"random", pytorch.write(random.data(), {{spec.embedding.vocabulary}})},
         {"segments", {{{"tokens", ids(batch.tokens)}, {"targets", ids(batch.targets)}}}}});
  }
  pytorch.ask(questions);
  HEED_NEEDS_ORACLE(pytorch.missing());
  for (const auto& [name, spec] : models()) {
    const Json& scores = pytorch.answer(name)["scores"];
    std::set<std::string> unknown;  // scores of PyTorch that heed has not
    for (const auto& [score, value] : scores.items()) unknown.insert(score);
    unknown.erase("terms of grasp");
    for (const Proxy& proxy : proxies()) {
      if (!proxy.runs || proxy.name == "partial_training") continue;  // sample_test judges that
      const double expected = scores.at(proxy.name), found = proxy.score(spec, batch_for(spec));
      // Each gradient has passed through five sums in each of six blocks, forward and back, of up to 40
      // terms. grasp is a slope: (4 (a - b) / 2h - (c - d) / 4h) / 3 of numbers as wrong as that, with h =
      // 0.01.
      const double bound = test::rounding_bound(40, 2 * 6 * 5);
      const double tolerance = proxy.name == "grasp"
                                   ? 1.5 / 0.01 * bound * scores["terms of grasp"].get<double>()
                                   : bound * std::abs(expected);
      EXPECT_NEAR(found, expected, tolerance) << name << ", " << proxy.name;
      unknown.erase(proxy.name);
    }
    EXPECT_EQ(unknown, std::set<std::string>()) << name;
  }
}

TEST(Proxies, LinearAlgebra) {
  // Eigenvalues of [[2, 1], [1, 2]] are 1 and 3; of a diagonal what stands on it.
  const std::vector<double> two = eigenvalues({2, 1, 1, 2}, 2);
  EXPECT_NEAR(two[0], 1, 1e-14);
  EXPECT_NEAR(two[1], 3, 1e-14);
  EXPECT_EQ(eigenvalues({5, 0, 0, 0, -1, 0, 0, 0, 2}, 3), (std::vector<double>{-1, 2, 5}));
  EXPECT_NEAR(log_determinant({2, 1, 1, 2}, 2), std::log(3), 1e-15);
  EXPECT_NEAR(log_determinant({0, 4, 1, 0}, 2), std::log(4), 1e-15);
  EXPECT_EQ(log_determinant({1, 2, 2, 4}, 2), -INFINITY);
  // The product of the eigenvalues is the determinant, and their sum the trace.
  constexpr int64_t n = 90;
  Rng rng(4);
  std::vector<double> matrix(n * n);
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j)
      matrix[static_cast<size_t>(i * n + j)] = matrix[static_cast<size_t>(j * n + i)] = rng.normal();
    trace += matrix[static_cast<size_t>(i * n + i)];
  }
  double sum = 0, logs = 0;
  for (const double value : eigenvalues(matrix, n)) sum += value, logs += std::log(std::abs(value));
  EXPECT_NEAR(sum, trace, 1e-11);
  EXPECT_NEAR(log_determinant(matrix, n), logs, 1e-9);
}

}  // namespace
}  // namespace heed::search
