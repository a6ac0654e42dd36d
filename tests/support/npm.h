// Other people's programs from npm, which tests are held against.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/test_data.h"

namespace heed::test {

struct NpmPackage {
  std::string name, version;
};

// Installs what is missing into `folder`; says why if it cannot. Tests that share a folder run one after the
// other (RESOURCE_LOCK npm).
inline std::string install_npm(const std::filesystem::path& folder, const std::vector<NpmPackage>& packages) {
  std::string all;
  bool there = true;
  for (const NpmPackage& package : packages) {
    all += " " + package.name + "@" + package.version;
    there = there && std::filesystem::exists(folder / "node_modules" / package.name);
  }
  if (there) return "";
  if (!output_of("command -v node && command -v npm")) return "node and npm are not installed";
  std::filesystem::create_directories(folder);
  if (!std::filesystem::exists(folder / "package.json")) std::ofstream(folder / "package.json") << "{}";
  const bool done = output_of(
                        "timeout 180 npm install --no-audit --no-fund --ignore-scripts --fetch-retries 1 "
                        "--fetch-retry-mintimeout 2000 --prefix '" +
                        folder.string() + "'" + all + " 2>&1")
                        .has_value();
  return done ? "" : "npm could not install" + all;
}

}  // namespace heed::test
