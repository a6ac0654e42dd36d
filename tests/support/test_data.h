// Data sets for tests, in the folder that HEED_TEST_DATA names: plain, or packed with xz or tar.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace heed::test {

// What a command prints; nothing if it fails.
inline std::optional<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return std::nullopt;
  std::string output;
  std::array<char, 1 << 16> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), n);
  if (pclose(pipe) != 0) return std::nullopt;
  return output;
}

// The content of `folder/name`, of `folder/name.xz`, or of `name` in the archive `folder/<first part of
// name>.tar.xz`.
inline std::optional<std::string> test_data(const std::string& name) {
  const char* folder = std::getenv("HEED_TEST_DATA");
  if (!folder) return std::nullopt;
  const std::string path = std::string(folder) + "/" + name;
  const std::string archive = std::string(folder) + "/" + name.substr(0, name.find('/')) + ".tar.xz";
  if (std::filesystem::exists(path)) return output_of("cat '" + path + "'");
  if (std::filesystem::exists(path + ".xz")) return output_of("xz -dc '" + path + ".xz'");
  if (std::filesystem::exists(archive)) return output_of("tar -xJOf '" + archive + "' '" + name + "'");
  return std::nullopt;
}

// A table of trained models that LiteTransformerSearch's authors published, from the folder that
// HEED_TEST_TABLES names.
inline std::optional<std::string> published_table(const std::string& name) {
  const char* folder = std::getenv("HEED_TEST_TABLES");
  if (!folder || !std::filesystem::exists(std::string(folder) + "/" + name + ".csv")) return std::nullopt;
  return output_of("cat '" + std::string(folder) + "/" + name + ".csv'");
}

}  // namespace heed::test
