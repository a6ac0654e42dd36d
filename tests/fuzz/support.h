// What the fuzz targets share. A parser may answer foreign bytes with a result or with an Error. Another
// exception, a report of a sanitizer, a hang or a law that does not hold is a finding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/files.h"

namespace heed::fuzz {

// Stops the program: libFuzzer then keeps the input.
inline void law(bool holds, const char* sentence) {
  if (holds) return;
  std::fprintf(stderr, "a law does not hold: %s\n", sentence);
  std::abort();
}

// Whether `body` came to an end; false if it refused its input.
template <class Body>
bool answers(const Body& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    law(error.what()[0] != '\0', "an Error says something");
    return false;
  }
}

// What heed wrote itself is not refused: an Error in `body` breaks the law.
template <class Body>
auto must(const char* sentence, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    std::fprintf(stderr, "refused: %s\n", error.what());
    law(false, sentence);
    throw;
  }
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void write(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

// The first line, which is taken off the text.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// A safetensors file whose header is the first line of the input. The 8 bytes before it, its length, are made
// here: mutations would rarely get them right.
inline std::string safetensors_of(std::string_view input) {
  const std::string_view header = take_line(input);
  std::string whole;
  for (int i = 0; i < 8; ++i) whole += static_cast<char>(header.size() >> 8 * i);
  return whole.append(header).append(input);
}

// A folder made anew from one input, where "=== name" lines begin files. Only names of the list are made:
// what matters is their content.
class Folder {
 public:
  Folder(std::string_view input, const std::vector<std::string>& names) {
    constexpr std::string_view kMark = "=== ";
    while (!input.empty()) {
      const std::string name(input.starts_with(kMark) ? take_line(input).substr(kMark.size()) : "");
      const size_t end = std::min(input.find("\n" + std::string(kMark)), input.size());
      const std::string_view content = input.substr(0, end);
      if (std::find(names.begin(), names.end(), name) != names.end())
        write(path() / name, name.ends_with(".safetensors") ? safetensors_of(content) : std::string(content));
      input.remove_prefix(std::min(input.size(), end + 1));
    }
    std::filesystem::create_directories(path());
  }
  ~Folder() { std::filesystem::remove_all(path()); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path() const { return outer() / "folder"; }

 private:
  static const TemporaryFolder& outer() {
    static const TemporaryFolder made;
    return made;
  }
};

// One file with the input.
inline std::filesystem::path file_with(std::string_view input, const char* name) {
  static const TemporaryFolder folder;
  write(folder / name, input);
  return folder / name;
}

}  // namespace heed::fuzz

// Defines a target: HEED_FUZZ_TARGET(input) { ... }, with `input` a std::string_view.
#define HEED_FUZZ_TARGET(input)                                             \
  static void target(std::string_view input);                               \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    target(heed::fuzz::text_of(data, size));                                \
    return 0;                                                               \
  }                                                                         \
  static void target(std::string_view input)
