// Distinct strings, numbered in the order in which they were first seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::data {

// Holds the bytes of all strings in one block, with little overhead per string.
class StringTable {
 public:
  StringTable() : slots_(64) {}
  // The string's number; adds it if it is new.
  size_t add(std::string_view string);
  // -1 if it is not there.
  int64_t find(std::string_view string) const;
  // Valid until the next `add`.
  std::string_view operator[](size_t number) const {
    return std::string_view(bytes_).substr(ends_[number], ends_[number + 1] - ends_[number]);
  }
  size_t size() const { return ends_.size() - 1; }
  size_t bytes() const { return bytes_.size(); }  // of all strings together

 private:
  struct Slot {
    uint32_t number_plus_one = 0;  // 0: free
    uint32_t hash = 0;
  };
  // The slot that has the string, or the free one where it belongs.
  size_t slot_of(std::string_view string, uint64_t hash) const;
  void grow();

  std::string bytes_;
  std::vector<size_t> ends_ = {0};
  std::vector<Slot> slots_;  // a power of two of them, at most half in use
};

}  // namespace heed::data
