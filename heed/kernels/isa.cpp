#include "heed/kernels/isa.h"

#include <cstdlib>
#include <optional>

#include "heed/base/error.h"

namespace heed::kernels {
namespace {

std::optional<Isa> forced;

Isa choose() {
  const char* wish = std::getenv("HEED_ISA");
  const std::string wanted = wish ? wish : "";
  if (!wanted.empty() && wanted != "v3" && wanted != "v4") {
    throw usage_error("HEED_ISA is '", wanted, "'; it may be v3 (AVX2) or v4 (AVX-512)");
  }
  const Isa isa = wanted == "v3"        ? Isa::kV3
                  : wanted == "v4"      ? Isa::kV4
                  : supported(Isa::kV4) ? Isa::kV4
                                        : Isa::kV3;
  if (!supported(isa))
    throw failure("this CPU lacks ", name_of(isa), "; heed needs x86-64-v3 at least: AVX2, FMA, BMI");
  return isa;
}

}  // namespace

bool supported(Isa isa) {
  // All that the compiler may have used, not AVX2 or AVX-512 alone.
  return isa == Isa::kV3 ? __builtin_cpu_supports("x86-64-v3") : __builtin_cpu_supports("x86-64-v4");
}

const char* name_of(Isa isa) { return isa == Isa::kV3 ? "AVX2" : "AVX-512"; }

Isa isa() {
  static const Isa chosen = choose();
  return forced.value_or(chosen);
}

void force_isa(Isa wanted) {
  if (!supported(wanted)) throw failure("this CPU lacks ", name_of(wanted));
  forced = wanted;
}

}  // namespace heed::kernels
