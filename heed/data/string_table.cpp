#include "heed/data/string_table.h"

#include <cstring>
#include <limits>

#include "heed/base/error.h"

namespace heed::data {
namespace {

uint64_t mixed(uint64_t x) {
  x *= 0x9E3779B97F4A7C15u;
  return x ^ x >> 32;
}

uint64_t hash_of(std::string_view string) {
  uint64_t hash = string.size();
  while (string.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, string.data(), 8);
    hash = mixed(hash ^ word);
    string.remove_prefix(8);
  }
  uint64_t rest = 0;
  if (!string.empty()) std::memcpy(&rest, string.data(), string.size());
  return mixed(mixed(hash ^ rest));
}

}  // namespace

size_t StringTable::slot_of(std::string_view string, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.number_plus_one == 0) return at;
    if (slot.hash == static_cast<uint32_t>(hash >> 32) && (*this)[slot.number_plus_one - 1] == string)
      return at;
  }
}

size_t StringTable::add(std::string_view string) {
  const uint64_t hash = hash_of(string);
  size_t at = slot_of(string, hash);
  if (slots_[at].number_plus_one != 0) return slots_[at].number_plus_one - 1;
  if (size() + 1 >= std::numeric_limits<uint32_t>::max())
    throw usage_error("the text has more than ", size(), " distinct words; learn from a part of it");
  if (2 * (size() + 1) > slots_.size()) {
    grow();
    at = slot_of(string, hash);
  }
  bytes_ += string;
  ends_.push_back(bytes_.size());
  slots_[at] = {static_cast<uint32_t>(size()), static_cast<uint32_t>(hash >> 32)};
  return size() - 1;
}

int64_t StringTable::find(std::string_view string) const {
  return static_cast<int64_t>(slots_[slot_of(string, hash_of(string))].number_plus_one) - 1;
}

void StringTable::grow() {
  slots_.assign(2 * slots_.size(), Slot());
  for (size_t number = 0; number < size(); ++number) {
    const uint64_t hash = hash_of((*this)[number]);
    slots_[slot_of((*this)[number], hash)] = {static_cast<uint32_t>(number + 1),
                                              static_cast<uint32_t>(hash >> 32)};
  }
}

}  // namespace heed::data
