#include <cmath>

#include "tests/ops/cases.h"

namespace heed::test {
namespace {

enum Extra : unsigned { kState = 1, kMask = 2, kPadding = 4 };

struct Sru {
  int64_t B, T, D;
  int64_t slots = 3;
  bool skip = true;
  double rescale = 1;
  const char* activation = "none";
  bool bidirectional = false;
  unsigned extras = 0;
  std::vector<size_t> seeded = {0, 1};
  std::string str() const {
    std::string out =
        text("sru [B ", B, ", T ", T, ", D ", D, "] slots ", slots, skip ? "" : " no skip", " ", activation);
    if (rescale != 1) out += text(" rescale ", rescale);
    if (bidirectional) out += " bidirectional";
    if (extras & kState) out += " c0";
    if (extras & kMask) out += " mask";
    if (extras & kPadding) out += " padding";
    return out + (seeded.size() == 2 ? "" : text(", gradient of output ", seeded[0]));
  }
};

void add(OracleCases& cases, Rng& rng, const Sru& s) {
  const Shape rows{s.B, s.D};
  OracleInput padding = below({s.B, s.T}, rng, 2);
  // The first sequence is padding and nothing else.
  for (int64_t t = 0; t < s.T && s.B > 1; ++t) padding.ints[static_cast<size_t>(t)] = 1;
  cases.add("sru", {.name = s.str(),
                    .op = "sru",
                    .settings = {{"slots", s.slots},
                                 {"skip", s.skip},
                                 {"rescale", s.rescale},
                                 {"activation", s.activation},
                                 {"bidirectional", s.bidirectional}},
                    .inputs = {normal({s.B, s.T, s.slots * s.D}, rng),
                               s.skip && s.slots == 3 ? normal({s.B, s.T, s.D}, rng) : absent(),
                               uniform({2 * s.D}, rng, -1, 1), normal({2 * s.D}, rng),
                               s.extras & kState ? normal(rows, rng) : absent(),
                               s.extras & kMask ? fixed(uniform(rows, rng, 0, 2)) : absent(),
                               s.extras & kPadding ? padding : absent()},
                    .length = std::max<int64_t>(s.B * s.T, 16),
                    .seeded = s.seeded});
}

}  // namespace

void add_sru_cases(OracleCases& cases) {
  Rng rng(5);
  for (const int64_t D : kWidths) {
    add(cases, rng, {.B = 3, .T = 5, .D = D, .extras = kState});
    add(cases, rng,
        {.B = 1, .T = 7, .D = 2 * D, .slots = 4, .bidirectional = true, .extras = kState | kMask});
  }
  for (const int64_t slots : {3, 4}) {
    for (const char* activation : {"none", "tanh"}) {
      for (const bool bidirectional : {false, true}) {
        for (const unsigned extras : {0u, +kState, +kMask, +kPadding, kState | kMask | kPadding}) {
          add(cases, rng,
              {.B = 3,
               .T = 6,
               .D = 34,
               .slots = slots,
               .activation = activation,
               .bidirectional = bidirectional,
               .extras = extras});
        }
      }
    }
  }
  add(cases, rng, {.B = 2, .T = 5, .D = 17, .rescale = 1.7320508});
  add(cases, rng, {.B = 2, .T = 5, .D = 17, .skip = false});
  add(cases, rng,
      {.B = 2,
       .T = 5,
       .D = 34,
       .skip = false,
       .activation = "tanh",
       .bidirectional = true,
       .extras = kPadding});
  add(cases, rng, {.B = 1, .T = 1, .D = 1});
  add(cases, rng, {.B = 1, .T = 1, .D = 1, .extras = kState | kMask | kPadding});
  // Only one of the two results goes on.
  for (const size_t output : {0, 1})
    add(cases, rng, {.B = 2, .T = 5, .D = 17, .extras = kState, .seeded = {output}});
  add(cases, rng, {.B = 4, .T = 40, .D = 200, .extras = kState | kPadding});  // two threads
  add(cases, rng, {.B = 1, .T = 60, .D = 514, .slots = 4, .bidirectional = true});
}

}  // namespace heed::test
