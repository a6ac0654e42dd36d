// What one file knows and no other: a change of it is then a change in one place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace heed::test {
namespace {

namespace fs = std::filesystem;

struct Knowledge {
  const char* rule;
  std::regex sign;            // of a line that knows it
  std::string below;          // in this folder of heed/
  std::set<std::string> may;  // files that may know it
};

const std::vector<Knowledge>& table() {
  static const std::vector<Knowledge> all = {
      {"only main.cpp knows exit codes, and help.cpp explains them",
       std::regex(R"(\b_?exit\(\s*(\d|k[A-Z])|\bExitCode\b|\bexit_code\b|EXIT_(SUCCESS|FAILURE)|\b130\b)"),
       "",
       {"cli/main.cpp", "cli/help.cpp"}},
      {"tables are read where they are written, not in views",
       std::regex(R"(\b(SELECT|INSERT|UPDATE|CREATE TABLE|Statement)\b)"),
       "report",
       {}},
      {"what a strategy or a score needs is said by its entry, not by its name",
       std::regex(R"re((strategy|proxy)\w*(\.name)?\s*[!=]=\s*")re"),
       "",
       {}},
  };
  return all;
}

std::vector<std::string> offenders(const Knowledge& knowledge, const fs::path& root) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / knowledge.below)) {
    const fs::path file = entry.path();
    if (file.extension() != ".h" && file.extension() != ".cpp") continue;
    const std::string name = file.lexically_relative(root).string();
    if (knowledge.may.contains(name)) continue;
    std::ifstream in(file);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (std::regex_search(line, knowledge.sign))
        found.push_back(name + ":" + std::to_string(number) + ": " + line);
    }
  }
  return found;
}

TEST(KnownOnce, NoOtherFileKnowsIt) {
  for (const Knowledge& knowledge : table()) {
    for (const std::string& line : offenders(knowledge, fs::path(HEED_SOURCE_DIR) / "heed"))
      ADD_FAILURE() << knowledge.rule << ":\n  " << line;
  }
}

// The checker itself: it finds what it looks for where that may stand.
TEST(KnownOnce, WhoMayKnowDoes) {
  for (Knowledge knowledge : table()) {
    if (knowledge.may.empty()) continue;
    const size_t others = offenders(knowledge, fs::path(HEED_SOURCE_DIR) / "heed").size();
    knowledge.may.clear();
    EXPECT_GT(offenders(knowledge, fs::path(HEED_SOURCE_DIR) / "heed").size(), others) << knowledge.rule;
  }
}

}  // namespace
}  // namespace heed::test
