// GPT-2's tokenizer: splitting, encoding and learning, in MB of text per second on one thread.
//
// The text is the file HEED_BENCH_TEXT names, else words drawn as often as English has them; the vocabulary
// is learned from it, or the one in the folder or tokenizer.json that HEED_BENCH_TOKENIZER names.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/data/pretokenize.h"
#include "heed/data/tokenizer.h"

namespace heed::data {
namespace {

// Zipf's law: the word of rank r comes with a share of about 1 / r. Rare words are longer.
std::string made_up_text(size_t size) {
  constexpr double kWords = 50000;
  Rng rng(1, 0);
  std::string text;
  while (text.size() < size) {
    auto rank = static_cast<uint64_t>(std::exp(rng.uniform() * std::log(kWords)));
    text += rng.uniform() < 0.08 ? ", " : " ";
    for (uint64_t letters = rank + 25; letters > 0; letters /= 13)
      text += static_cast<char>('a' + (letters * 7 + rank) % 26);
    if (rng.uniform() < 0.01) text += ".\n";
  }
  return text;
}

const std::string& bench_text() {
  static const std::string text = [] {
    const char* path = std::getenv("HEED_BENCH_TEXT");
    return path ? std::string(MappedFile(path).text()) : made_up_text(8 << 20);
  }();
  return text;
}

std::unique_ptr<Tokenizer> learned(int64_t vocabulary) {
  TokenizerSpec spec;
  spec.kind = "bpe";
  spec.vocabulary = vocabulary;
  return learn_tokenizer(spec, [](const auto& take) { take(bench_text()); });
}

void report(benchmark::State& state) {
  state.counters["MB/s"] = benchmark::Counter(static_cast<double>(bench_text().size()) / 1e6,
                                              benchmark::Counter::kIsIterationInvariantRate);
}

void Split(benchmark::State& state) {
  const std::string& text = bench_text();
  for (auto _ : state) {
    size_t pieces = 0;
    for (size_t at = 0; at < text.size(); at = pretoken_end(text, at)) ++pieces;
    benchmark::DoNotOptimize(pieces);
  }
  report(state);
}

void Encode(benchmark::State& state) {
  const char* path = std::getenv("HEED_BENCH_TOKENIZER");
  const auto tokenizer = path ? load_tokenizer(path) : learned(8192);
  std::vector<int32_t> ids;
  for (auto _ : state) {
    ids.clear();
    tokenizer->encode(bench_text(), ids);
  }
  report(state);
  state.counters["bytes/token"] = static_cast<double>(bench_text().size()) / static_cast<double>(ids.size());
}

void Learn(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(learned(state.range(0)));
  report(state);
}

BENCHMARK(Split)->Unit(benchmark::kMillisecond);
BENCHMARK(Encode)->Unit(benchmark::kMillisecond);
BENCHMARK(Learn)->Arg(8192)->ArgName("vocabulary")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heed::data
