// The tree is the architecture: who may include whom, and what the objects of the vector kernels may share.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heed::test {
namespace {

namespace fs = std::filesystem;

// What each folder stands on (docs and house style say the same); what those stand on is allowed as well.
const std::map<std::string, std::set<std::string>>& stands_on() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"base", {}},
      {"spec", {"base"}},
      {"tensor", {"base"}},
      {"kernels", {"tensor"}},
      {"graph", {"spec", "kernels"}},
      {"ops", {"graph"}},
      {"model", {"ops"}},
      {"data", {"spec", "tensor"}},
      {"store", {"spec", "tensor"}},
      {"train", {"model", "data", "store"}},
      {"infer", {"model", "data"}},
      {"measure", {"infer", "store"}},
      {"search", {"train", "measure"}},
      {"report", {"search"}},
      {"serve", {"report"}},
      {"cli", {"model", "data", "store", "train", "infer", "measure", "search", "report", "serve"}},
  };
  return table;
}

// The folder itself, what it stands on, and what those stand on in turn.
std::set<std::string> allowed_for(const std::string& folder) {
  std::set<std::string> allowed = {folder};
  for (const std::string& below : stands_on().at(folder)) allowed.merge(allowed_for(below));
  return allowed;
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool is_source(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

// Complaints about one file; `folder` is where in heed/ it lies.
std::vector<std::string> complaints_about(const fs::path& file, const std::string& folder) {
  static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::vector<std::string> complaints;
  const std::set<std::string> allowed = allowed_for(folder);
  std::ifstream in(file);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string path = match[2];
    const std::string where = file.string() + ":" + std::to_string(number) + " includes " + path;
    const bool ours = path.starts_with("heed/");
    if (ours != (match[1] == "\"")) {
      complaints.push_back(where +
                           (ours ? ": write it in quotes"
                                 : ": write the whole path, \"heed/folder/file.h\"; others' headers in <>"));
    } else if (ours) {
      const std::string below = path.substr(5, path.find('/', 5) - 5);
      if (!stands_on().contains(below)) {
        complaints.push_back(where + ": there is no folder heed/" + below);
      } else if (!allowed.contains(below)) {
        complaints.push_back(where + ", but heed/" + folder + " stands on: " + joined(allowed));
      }
    }
  }
  return complaints;
}

TEST(Layers, EveryIncludeFollowsTheTable) {
  int files = 0;
  const fs::path root = fs::path(HEED_SOURCE_DIR) / "heed";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    ++files;
    const fs::path relative = entry.path().lexically_relative(root);
    const std::string folder = relative.begin()->string();
    if (!stands_on().contains(folder)) {
      ADD_FAILURE() << entry.path() << ": heed/" << folder << " is not in the table of layers";
      continue;
    }
    for (const std::string& complaint : complaints_about(entry.path(), folder)) ADD_FAILURE() << complaint;
  }
  EXPECT_GT(files, 50) << "the sources were not found under " << root;
}

// The checker itself: what it must complain about.
TEST(Layers, OffendersAreNamed) {
  const fs::path file = fs::temp_directory_path() / "heed_layers_test.h";
  const auto complaints = [&](const std::string& text, const std::string& folder) {
    std::ofstream(file) << "#pragma once\n" << text << "\n";
    return complaints_about(file, folder).size();
  };
  EXPECT_EQ(
      complaints("#include \"heed/base/error.h\"\n#include <vector>\n#include <nlohmann/json.hpp>", "base"),
      0u);
  EXPECT_EQ(complaints("#include \"heed/tensor/shape.h\"", "graph"), 0u);  // by way of kernels
  EXPECT_EQ(complaints("#include \"heed/graph/graph.h\"", "kernels"), 1u);
  EXPECT_EQ(complaints("#include \"heed/data/corpus.h\"", "model"), 1u);
  EXPECT_EQ(complaints("  #  include \"heed/serve/server.h\"", "report"), 1u);
  EXPECT_EQ(complaints("#include \"error.h\"", "base"), 1u);
  EXPECT_EQ(complaints("#include \"../base/error.h\"", "tensor"), 1u);
  EXPECT_EQ(complaints("#include <heed/base/error.h>", "base"), 1u);
  EXPECT_EQ(complaints("#include \"heed/nowhere/error.h\"", "base"), 1u);
  fs::remove(file);
}

TEST(Layers, EveryFolderIsInTheTable) {
  for (const auto& [folder, below] : stands_on()) {
    for (const std::string& name : below)
      EXPECT_TRUE(stands_on().contains(name)) << folder << " stands on unknown " << name;
  }
}

std::vector<std::string> lines_of(const std::string& command, int& status) {
  std::vector<std::string> lines;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return lines;
  char buffer[4096];
  std::string line;
  while (std::fgets(buffer, sizeof buffer, pipe)) {
    line += buffer;
    if (line.back() != '\n') continue;
    line.pop_back();
    lines.push_back(std::exchange(line, ""));
  }
  status = pclose(pipe);
  return lines;
}

// A weak symbol (an inline function or template that was not inlined) exists in many objects, and the linker
// keeps one of them for everybody. If that is the copy compiled for AVX-512, the whole program crashes on a
// CPU without it, far from any kernel, and only there. Inside the namespaces v3 and v4 the copies have names
// of their own. Weak data (V in the list of nm) has no instructions and does no harm.
TEST(VectorKernels, ShareNoWeakSymbols) {
  for (const std::string isa : {"v3", "v4"}) {
    const fs::path objects = fs::path(HEED_BINARY_DIR) / "heed/CMakeFiles" / ("heed_kernels_" + isa + ".dir");
    int count = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(objects)) {
      if (entry.path().extension() != ".o") continue;
      ++count;
      int status = -1;
      const std::regex weak(R"(^[0-9a-f]* +W (.*)$)");
      for (const std::string& line :
           lines_of("nm -C --defined-only '" + entry.path().string() + "'", status)) {
        std::smatch match;
        if (!std::regex_match(line, match, weak)) continue;
        const std::string name = match[1];
        if (name.find("heed::kernels::" + isa + "::") == std::string::npos) {
          ADD_FAILURE() << entry.path() << " shares with the rest of the program: " << name
                        << "\n  make it static, always_inline, or keep it out of files compiled for " << isa;
        }
      }
      EXPECT_EQ(status, 0) << "nm failed on " << entry.path();
    }
    EXPECT_GT(count, 0) << "no objects in " << objects;
  }
}

}  // namespace
}  // namespace heed::test
