// XXH64 (Collet, 2012): a fast 64-bit hash that tells whether bytes are the same. Not cryptographic.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0);

// 16 digits, for file names.
std::string hash_name(uint64_t hash);

}  // namespace heed
