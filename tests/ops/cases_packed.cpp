#include <cmath>

#include "heed/ops/packed.h"
#include "tests/ops/cases.h"

namespace heed::test {
namespace {

// Padded columns are given numbers too: nothing of them may show.
void linear_case(OracleCases& cases, Rng& rng, Shape x, int64_t out, const char* activation, bool bias,
                 bool residual) {
  const int64_t in = x.dim(-1);
  cases.add("packed",
            {.name = text("packed_linear ", x.str(), " to ", out, " ", activation, bias ? " bias" : "",
                          residual ? " residual" : ""),
             .op = "packed_linear",
             .settings = {{"activation", activation}, {"columns", out}},
             .inputs = {normal(x, rng),
                        normal(ops::packed_shape(in, out), rng, 1 / std::sqrt(static_cast<double>(in))),
                        bias ? normal({out}, rng) : absent(),
                        residual ? normal(x.with_dim(-1, out), rng) : absent()},
             .length = in,
             .seeded = {}});
}

void embedding_case(OracleCases& cases, Rng& rng, int64_t V, int64_t D, int64_t P, int first) {
  cases.add("packed", {.name = text("packed_embedding ", V, " x ", D, " positions ", P, " from ", first),
                       .op = "packed_embedding",
                       .settings = {{"vocabulary", V}, {"scale", 0.5}},
                       .inputs = {below({3, 5}, rng, V), normal(ops::packed_shape(D, V), rng),
                                  P > 0 ? normal({P, D}, rng) : absent(),
                                  first >= 0 ? integers({1}, {first}) : absent()},
                       .seeded = {}});
}

}  // namespace

void add_packed_cases(OracleCases& cases) {
  Rng rng(41);
  for (const char* activation : {"none", "relu", "gelu", "gelu_tanh", "tanh"}) {
    for (const int options : {0, 1, 2, 3})
      linear_case(cases, rng, {2, 5, 17}, 70, activation, options & 1, options & 2);
  }
  for (const int64_t width : {1, 15, 16, 17, 63, 64, 65, 128})
    linear_case(cases, rng, {7, width}, 129 - width, "none", true, true);
  linear_case(cases, rng, {1, 1}, 1, "gelu", true, true);
  linear_case(cases, rng, {0, 4}, 3, "none", true, true);
  linear_case(cases, rng, {200, 800}, 300, "gelu_tanh", true,
              false);  // several blocks of rows and of depth, two threads
  linear_case(cases, rng, {195, 1537}, 65, "none", true, true);
  for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {  // up to 8 go another way
    for (const int64_t in : {1, 31, 33, 100}) linear_case(cases, rng, {rows, in}, 130, "none", true, true);
    linear_case(cases, rng, {rows, 900}, 64, "gelu", false, rows % 2 == 0);
  }
  for (const int64_t V : {1, 63, 64, 65, 200}) embedding_case(cases, rng, V, 17, 0, -1);
  embedding_case(cases, rng, 100, 16, 5, -1);
  embedding_case(cases, rng, 100, 15, 9, 4);
}

}  // namespace heed::test
