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
  AttentionCase& forward_only() {
    case_.seeded.clear();
    return *this;
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

// Up to four queries have a kernel of their own, which reads keys in blocks of 64 and four at a time, in
// parts by shape. Five are back at the other one.
void few_query_cases(OracleCases& cases, Rng& rng) {
  for (const int64_t T : {1, 2, 3, 4, 5}) {
    // The backward pass is the same as for many queries: one T shows that it understands the log-sum-exp.
    const auto add = [&](AttentionCase given) { (T == 2 ? given : given.forward_only()).add(cases); };
    for (const Sizes& s : {Sizes{1, T, T, 1, 1}, Sizes{3, T, 9, 2, 4}, Sizes{1, T, 64, 1, 16},
                           Sizes{2, T, 65, 3, 15}, Sizes{2, T, 127, 2, 17}}) {
      add(AttentionCase(rng, "few causal", s));
      add(AttentionCase(rng, "few full", s).full());
      add(AttentionCase(rng, "few relative", s).relative(s.K, true));
    }
    const Sizes s{3, T, 70, 2, 9};
    add(AttentionCase(rng, "few relative without biases", s).relative(70, false));
    add(AttentionCase(rng, "few, more relative rows than keys", s).relative(100, true));
    add(AttentionCase(rng, "few, padding", s).some_padding());
    add(AttentionCase(rng, "few, padding, full, packed keys", s).some_padding().full().packed_keys());
    add(AttentionCase(rng, "few packed", {2, T, T, 2, 5}).packed());
    add(AttentionCase(rng, "few, more than keys", {2, T, 1, 2, 5}).full());
    add(AttentionCase(rng, "few, dropout", s).dropout(0.3, 5));
    std::vector<int32_t> padded(3 * 70);
    std::fill(padded.begin() + 70, padded.begin() + 140, 1);  // the middle sequence
    std::fill(padded.begin() + 2, padded.begin() + 70, 1);    // and one part of the first
    add(AttentionCase(rng, "few, all padding", s).padding(padded).relative(70, true));
    // So many sequences are one part each, of three blocks: the first all padding, or the second, or both.
    std::vector<int32_t> blocks(33 * 150);
    std::fill(blocks.begin(), blocks.begin() + 70, 1);
    std::fill(blocks.begin() + 150 + 60, blocks.begin() + 150 + 130, 1);
    std::fill(blocks.begin() + 300, blocks.begin() + 300 + 130, 1);
    AttentionCase(rng, "few, blocks of padding", {33, T, 150, 1, 4})
        .padding(blocks)
        .relative(150, true)
        .forward_only()
        .add(cases);
    for (const int64_t window : {0, 1, 63, 64, 65}) {
      add(AttentionCase(rng, text("few, window ", window), s).set("window", window).relative(70, true));
    }
    for (const int32_t at : {0, 3, 15, 16, 63, 64, 65}) {
      add(AttentionCase(rng, text("few at ", at), s).positions(at, 0));
      add(AttentionCase(rng, text("few relative at ", at), s)
              .relative(70, true)
              .positions(at, std::max(0, at - 20)));
    }
    add(AttentionCase(rng, "few, no key exists", s).positions(5, 70));
    // The sizes they are for: many parts, wide heads, one sequence or several.
    for (const Sizes& wide : {Sizes{1, T, 2500, 2, 64}, Sizes{1, T, 600, 1, 480}, Sizes{3, T, 300, 10, 41},
                              Sizes{40, T, 130, 1, 128}}) {
      AttentionCase(rng, "few, wide", wide).packed_keys().forward_only().add(cases);
      AttentionCase(rng, "few, wide, relative", wide).relative(wide.K, true).forward_only().add(cases);
    }
  }
}

// A cache of 80 rows of which the last few are seen, and relative positions for no more than those.
void short_relative_cases(OracleCases& cases, Rng& rng) {
  for (const int64_t T : {1, 4, 9}) {
    const Sizes s{2, T, 80, 2, 7};
    for (const int32_t memory : {0, 5, 16}) {
      const int64_t rows = memory + T;
      for (const int32_t at : {0, 4, 50, static_cast<int32_t>(80 - T)}) {
        const auto add = [&](const char* what, const char* same_length, int64_t table) {
          AttentionCase(rng, text(what, " memory ", memory, " at ", at), s)
              .relative(table, true)
              .positions(at, std::max(0, at - memory))
              .set("same_length", same_length)
              .set("memory_length", memory)
              .add(cases);
        };
        add("short relative", "none", rows);
        add("short relative nv", "nv", memory + 1);
        add("short relative orig", "orig", std::max(1, memory));
      }
    }
    for (const int64_t window : {0, 5, 40}) {
      AttentionCase(rng, text("short relative window ", window), s)
          .relative(window + 1, true)
          .set("window", window)
          .add(cases);
    }
  }
  AttentionCase(rng, "short relative over several tiles", {1, 150, 200, 1, 8})
      .set("window", 20)
      .relative(21, true)
      .add(cases);
}

}  // namespace

void add_attention_cases(OracleCases& cases) {
  Rng rng(2);
  size_cases(cases, rng);
  packing_cases(cases, rng);
  mask_cases(cases, rng);
  memory_cases(cases, rng);
  few_query_cases(cases, rng);
  short_relative_cases(cases, rng);
}

}  // namespace heed::test
