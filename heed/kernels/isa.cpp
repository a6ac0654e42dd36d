#include "heed/kernels/isa.h"

#include <cpuid.h>

#include <cstdlib>
#include <optional>

#include "heed/base/error.h"

namespace heed::kernels {
namespace {

std::optional<Isa> forced;

// Other instructions the compiler may use for x86-64-v3. Not every compiler's builtin knows their names.
bool has_rest_of_v3() {
  constexpr unsigned kMovbe = 1U << 22, kF16c = 1U << 29, kLzcnt = 1U << 5;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kMovbe) || !(c & kF16c)) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & kLzcnt);
}

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
    throw system_error("this CPU lacks ", name_of(isa), "; heed needs x86-64-v3 at least: AVX2, FMA, BMI");
  return isa;
}

}  // namespace

bool supported(Isa isa) {
  if (isa == Isa::kV3)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && has_rest_of_v3();
  return supported(Isa::kV3) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

const char* name_of(Isa isa) { return isa == Isa::kV3 ? "AVX2" : "AVX-512"; }

Isa isa() {
  static const Isa chosen = choose();
  return forced.value_or(chosen);
}

void force_isa(Isa wanted) {
  if (!supported(wanted)) throw system_error("this CPU lacks ", name_of(wanted));
  forced = wanted;
}

}  // namespace heed::kernels
