// Tokenizers that are learned: encoding and learning, in MB of text per second on one thread.
//
// The text is the file HEED_BENCH_TEXT names, else words drawn as often as English has them. The vocabulary
// is learned from it; Encode/file has the one that HEED_BENCH_TOKENIZER names: a folder, tokenizer.json or
// vocab.txt.
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

constexpr int64_t kVocabulary = 8192;

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

void report(benchmark::State& state) {
  state.counters["MB/s"] = benchmark::Counter(static_cast<double>(bench_text().size()) / 1e6,
                                              benchmark::Counter::kIsIterationInvariantRate);
}

std::unique_ptr<Tokenizer> learned(const char* kind) {
  TokenizerSpec spec;
  spec.kind = kind;
  spec.vocabulary = kVocabulary;
  return learn_tokenizer(spec, [](const auto& take) { take(bench_text()); });
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

void encode(benchmark::State& state, const Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  for (auto _ : state) {
    ids.clear();
    tokenizer.encode(bench_text(), ids);
  }
  report(state);
  state.counters["bytes/token"] = static_cast<double>(bench_text().size()) / static_cast<double>(ids.size());
}

void Encode(benchmark::State& state, const char* kind) { encode(state, *learned(kind)); }

void EncodeFile(benchmark::State& state) {
  const char* path = std::getenv("HEED_BENCH_TOKENIZER");
  if (!path) return state.SkipWithError("HEED_BENCH_TOKENIZER names no tokenizer");
  encode(state, *load_tokenizer(path));
}

void Learn(benchmark::State& state, const char* kind) {
  for (auto _ : state) benchmark::DoNotOptimize(learned(kind));
  report(state);
}

BENCHMARK(Split)->Name("Split/bpe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Encode, bpe, "bpe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Encode, wordpiece, "wordpiece")->Unit(benchmark::kMillisecond);
BENCHMARK(EncodeFile)->Name("Encode/file")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Learn, bpe, "bpe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Learn, wordpiece, "wordpiece")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heed::data
