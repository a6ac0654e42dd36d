// Which instruction set the vector kernels use, and the dispatch to it.
//
// Every *.cpp in heed/kernels named in HEED_VECTOR_KERNELS (CMakeLists.txt) is compiled once per instruction
// set, each in its own namespace: v3 (AVX2 + FMA) and v4 (AVX-512). HEED_KERNEL declares both and a function
// that dispatches.
#pragma once

#include <string>

namespace heed::kernels {

enum class Isa { kV3, kV4 };

// The one in use: the best the CPU has, or the one set by the environment variable HEED_ISA (v3, v4) or
// force_isa(). Throws if the CPU has neither.
Isa isa();
void force_isa(Isa wanted);
bool supported(Isa isa);
const char* name_of(Isa isa);

}  // namespace heed::kernels

// A kernel takes one struct of arguments by reference.
#define HEED_KERNEL(name, Arguments)                                      \
  namespace v3 {                                                          \
  void name(const Arguments&);                                            \
  }                                                                       \
  namespace v4 {                                                          \
  void name(const Arguments&);                                            \
  }                                                                       \
  inline void name(const Arguments& arguments) {                          \
    return isa() == Isa::kV4 ? v4::name(arguments) : v3::name(arguments); \
  }
