#include "heed/spec/design.h"

#include <algorithm>
#include <cmath>

namespace heed::spec {
namespace {

constexpr int64_t kMostBlocks = 4096;  // the limit of parse_arch

void need(bool right, const char* name, double value, const std::string& wanted) {
  if (!right) throw usage_error("design: ", name, " is ", value, "; it must be ", wanted);
}

// Adds (letters)xcount; nothing for a count of 0.
void add_group(std::string& arch, const std::string& letters, int64_t count) {
  if (count == 0) return;
  arch += text(arch.empty() ? "" : " ", "(", letters, ")");
  if (count > 1) arch += text("x", count);
}

std::string repeated(char letter, int64_t count) { return std::string(static_cast<size_t>(count), letter); }

}  // namespace

std::string interleaved(int64_t blocks) {
  std::string letters;
  for (int64_t i = 0; i < blocks; ++i) letters += "sf"[i % 2];
  return letters;
}

std::string design_par(int64_t layers, double p, DesignRule rule) {
  need(layers >= 1 && layers <= kMostBlocks, "layers", static_cast<double>(layers),
       text("from 1 to ", kMostBlocks));
  const auto L = static_cast<double>(layers);
  need(p >= 1 && p <= 2 * L, "p", p,
       text("from 1 to ", 2 * layers, " for ", layers, " layers; beyond that there is no attention"));
  const auto attention = static_cast<int64_t>(std::floor(L / p + 0.5));  // half rounds up
  int64_t stride = 0;
  switch (rule) {
    case DesignRule::kStrict: {
      const int64_t front = 2 * layers / 3;  // the two thirds
      stride = attention == 1 ? front : (front - 1) / (attention - 1);
      break;
    }
    case DesignRule::kPublished:  // floor(2 layers / 3 / attention + 2/3), fitted to the published strings
      stride = (2 * layers + 2 * attention) / (3 * attention);
      break;
  }
  stride = std::max<int64_t>(1, stride);
  // The last group ends where the layers do.
  const int64_t last = std::min(stride, layers - (attention - 1) * stride);
  const int64_t whole = last == stride ? attention : attention - 1;
  std::string arch;
  add_group(arch, text("s", repeated('f', stride - 1)), whole);
  if (whole < attention) add_group(arch, text("s", repeated('f', last - 1)), 1);
  add_group(arch, "f", layers - (attention - 1) * stride - last);
  return arch;
}

std::string design_sandwich(int64_t pairs, int64_t k) {
  need(pairs >= 1 && pairs <= kMostBlocks / 2, "pairs", static_cast<double>(pairs),
       text("from 1 to ", kMostBlocks / 2));
  need(k >= 0 && k < pairs, "k", static_cast<double>(k),
       text("from 0 to ", pairs - 1, " for ", pairs, " pairs"));
  std::string arch;
  add_group(arch, "s", k);
  add_group(arch, "sf", pairs - k);
  add_group(arch, "f", k);
  return arch;
}

std::string design_sru(int64_t layers, int64_t every) {
  need(layers >= 1 && layers <= kMostBlocks, "layers", static_cast<double>(layers),
       text("from 1 to ", kMostBlocks));
  need(every >= 0 && every <= kMostBlocks, "every", static_cast<double>(every),
       text("from 0 (no attention) to ", kMostBlocks));
  std::string arch;
  const int64_t attending = every == 0 ? 0 : layers / every;
  if (attending > 0) add_group(arch, text(repeated('r', every - 1), "a"), attending);
  add_group(arch, "r", layers - attending * every);
  return arch;
}

}  // namespace heed::spec
