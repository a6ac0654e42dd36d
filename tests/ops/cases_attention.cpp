#include <cmath>

#include "tests/ops/cases.h"

namespace heed::test {
namespace {

struct Sizes {
  int64_t B, T, K, H, E;
  std::string str() const { return text("[B ", B, ", T ", T, ", K ", K, ", H ", H, ", E ", E, "]"); }
};

// A case is made piece by piece: sizes, then what is to be there besides q, k and v.
class AttentionCase {
 public:
  AttentionCase(Rng& rng, const std::string& what, Sizes sizes) : rng_(rng), sizes_(sizes) {
    const auto [B, T, K, H, E] = sizes;
    case_.name = text("attention ", what, " ", sizes.str());
    case_.op = "attention";
    case_.settings = {{"heads", H}, {"head_width", E}};
    case_.inputs = {normal({B, T, H * E}, rng), normal({B, K, H * E}, rng), normal({B, K, H * E}, rng)};
    case_.inputs.resize(9, absent());
    case_.length = std::max({K, E, B * T});
    // The gradient of a score is p (dp - sum p dp): with few keys two sums over E cancel to nearly nothing.
    case_.conditioning = 4;
  }
  AttentionCase& set(const char* name, const Json& value) {
    case_.settings[name] = value;
    return *this;
  }
  AttentionCase& full() { return set("mask", "full"); }
  AttentionCase& padding(std::vector<int32_t> values) {
    case_.inputs[3] = integers({sizes_.B, sizes_.K}, std::move(values));
    return *this;
  }
  AttentionCase& some_padding() { return padding(below({sizes_.B, sizes_.K}, rng_, 2).ints); }
  AttentionCase& relative(int64_t rows, bool biases) {
    const int64_t width = sizes_.H * sizes_.E;
    case_.inputs[4] = normal({rows, width}, rng_);
    if (biases) case_.inputs[5] = normal({width}, rng_), case_.inputs[6] = normal({width}, rng_);
    return *this;
  }
  AttentionCase& positions(int32_t first_query, int32_t first_key) {
    case_.inputs[7] = integers({2}, {first_query, first_key});
    return *this;
  }
  AttentionCase& dropout(double rate, int64_t stream) {
    case_.inputs[8] = random_state(0x123456789abcdef0, 77);
    return set("dropout", rate).set("stream", stream);
  }
  // q, k and v are columns of one value, in another order than q, k, v, with columns of no use around them.
  AttentionCase& packed() {
    const auto [B, T, K, H, E] = sizes_;
    HEED_ASSERT(T == K);
    case_.inputs[0] = normal({B, T, 3 * H * E + 2}, rng_);
    case_.inputs[1] = case_.inputs[2] = same_as(0);
    return set("q_offset", 2 * H * E + 1).set("k_offset", 1).set("v_offset", H * E + 1);
  }
  // k and v are columns of one value.
  AttentionCase& packed_keys() {
    const auto [B, T, K, H, E] = sizes_;
    case_.inputs[1] = normal({B, K, 2 * H * E}, rng_);
    case_.inputs[2] = same_as(1);
    return set("v_offset", H * E);
  }
  void add(OracleCases& cases) { cases.add("attention", std::move(case_)); }

 private:
  Rng& rng_;
  Sizes sizes_;
  OracleCase case_;
};

void size_cases(OracleCases& cases, Rng& rng) {
  // Tiles of queries are 64 wide, parts of keys 64 long.
  const Sizes sizes[] = {{1, 1, 1, 1, 1},    {3, 1, 9, 2, 4},    {1, 5, 5, 1, 7},   {3, 15, 31, 1, 17},
                         {1, 16, 16, 2, 16}, {2, 17, 33, 3, 15}, {1, 63, 64, 1, 8}, {1, 64, 64, 2, 16},
                         {1, 65, 130, 2, 9}, {3, 40, 129, 2, 33}};
  for (const Sizes& s : sizes) {
    AttentionCase(rng, "causal", s).add(cases);
    AttentionCase(rng, "full", s).full().add(cases);
    AttentionCase(rng, "relative", s).relative(s.K, true).add(cases);
    AttentionCase(rng, "dropout", s).dropout(0.3, 5).add(cases);
  }
  AttentionCase(rng, "more queries than keys", {2, 19, 3, 2, 5}).full().add(cases);
  AttentionCase(rng, "relative without biases", {2, 9, 17, 2, 5}).relative(17, false).add(cases);
  AttentionCase(rng, "more relative rows than keys", {2, 9, 17, 2, 5}).relative(40, true).add(cases);
  AttentionCase(rng, "dropout, relative, window, padding", {3, 17, 33, 2, 9})
      .relative(33, true)
      .dropout(0.1, 0)
      .set("window", 16)
      .some_padding()
      .add(cases);
  AttentionCase(rng, "dropout of nearly all", {1, 20, 20, 1, 8}).dropout(0.9, 3).add(cases);
}

void packing_cases(OracleCases& cases, Rng& rng) {
  AttentionCase(rng, "packed", {2, 17, 17, 2, 5}).packed().add(cases);
  AttentionCase(rng, "packed, relative", {2, 17, 17, 2, 5}).packed().relative(17, true).add(cases);
  AttentionCase(rng, "packed, full, padding", {3, 16, 16, 1, 16}).packed().full().some_padding().add(cases);
  AttentionCase(rng, "packed keys", {2, 7, 19, 2, 5}).packed_keys().add(cases);
  // Columns used for more than one thing: their gradients add up.
  cases.add("attention", {.name = "attention of a value to itself",
                          .op = "attention",
                          .settings = {{"heads", 2}, {"head_width", 5}},
                          .inputs = {normal({2, 17, 10}, rng), same_as(0), same_as(0), absent(), absent(),
                                     absent(), absent(), absent(), absent()},
                          .length = 17});
  cases.add("attention", {.name = "attention whose keys are its values",
                          .op = "attention",
                          .settings = {{"heads", 2}, {"head_width", 5}, {"mask", "full"}},
                          .inputs = {normal({2, 3, 10}, rng), normal({2, 17, 20}, rng), same_as(1), absent(),
                                     absent(), absent(), absent(), absent(), absent()},
                          .length = 17});
  AttentionCase(rng, "packed keys, full", {2, 19, 7, 2, 5}).packed_keys().full().add(cases);
}

void mask_cases(OracleCases& cases, Rng& rng) {
  for (const int64_t window : {0, 1, 15, 16, 17, 200}) {
    AttentionCase(rng, text("window ", window), {2, 17, 50, 1, 6}).set("window", window).add(cases);
    AttentionCase(rng, text("window ", window, " full"), {2, 17, 20, 1, 6})
        .set("window", window)
        .full()
        .add(cases);
  }
  AttentionCase(rng, "window over several tiles", {1, 150, 150, 1, 8})
      .set("window", 20)
      .relative(150, true)
      .add(cases);
  AttentionCase(rng, "padding", {3, 9, 17, 2, 5}).some_padding().add(cases);
  AttentionCase(rng, "padding, full", {3, 9, 17, 2, 5}).some_padding().full().add(cases);
  // The middle sequence is padding and nothing else: its queries see no key and yield 0.
  std::vector<int32_t> padded(3 * 17);
  std::fill(padded.begin() + 17, padded.begin() + 34, 1);
  AttentionCase(rng, "one sequence all padding", {3, 9, 17, 2, 5}).padding(padded).full().add(cases);
  AttentionCase(rng, "one sequence all padding, relative", {3, 9, 17, 2, 5})
      .padding(padded)
      .relative(17, true)
      .add(cases);
  AttentionCase(rng, "all padding", {1, 4, 4, 1, 5}).padding({1, 1, 1, 1}).dropout(0.2, 1).add(cases);
  AttentionCase(rng, "leading padding", {1, 6, 6, 1, 5})
      .padding({1, 1, 1, 0, 0, 0})
      .add(cases);  // early queries see nothing
}

void memory_cases(OracleCases& cases, Rng& rng) {
  const Sizes s{2, 9, 25, 2, 7};  // 16 rows of memory
  for (const int32_t first : {0, 1, 7, 15, 16}) {
    for (const bool relative : {false, true}) {
      AttentionCase valid(rng, text("memory from ", first, relative ? " relative" : ""), s);
      if (relative) valid.relative(s.K, true);
      valid.positions(static_cast<int32_t>(s.K - s.T), first).add(cases);
    }
    for (const char* convention : {"nv", "orig"}) {
      for (const int64_t memory : {0, 5, 16}) {
        AttentionCase(rng, text("same length ", convention, " ", memory, " from ", first), s)
            .relative(s.K, true)
            .set("same_length", convention)
            .set("memory_length", memory)
            .positions(static_cast<int32_t>(s.K - s.T), first)
            .add(cases);
      }
    }
  }
  AttentionCase(rng, "same length without positions", s)
      .set("same_length", "nv")
      .set("memory_length", 16)
      .add(cases);
  // Decoding into a cache longer than what it holds yet.
  for (const int32_t at : {0, 15, 16, 32}) {
    AttentionCase(rng, text("one query at ", at), {2, 1, 33, 2, 7}).positions(at, 0).add(cases);
    AttentionCase(rng, text("one relative query at ", at), {2, 1, 33, 2, 7})
        .relative(33, true)
        .positions(at, 0)
        .add(cases);
  }
  AttentionCase(rng, "queries in the middle", {2, 5, 40, 1, 9}).positions(11, 3).set("window", 6).add(cases);
  AttentionCase(rng, "no key exists", {1, 3, 8, 1, 4}).positions(5, 8).add(cases);
}

}  // namespace

void add_attention_cases(OracleCases& cases) {
  Rng rng(2);
  size_cases(cases, rng);
  packing_cases(cases, rng);
  mask_cases(cases, rng);
  memory_cases(cases, rng);
}

}  // namespace heed::test
