// What tests of verbs share: a folder of their own, a model so small that it trains in no time, a text, and
// how a wrong use should end.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "tests/support/command.h"
#include "tests/support/small_space.h"

namespace heed::test {

class Verbs : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // A file that already has this content is left alone: a process may have mapped it.
  std::string file(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    if (!std::filesystem::exists(path(name)) || Verbs::content(path(name)) != content)
      std::ofstream(folder_ / name, std::ios::binary) << content;
    return path(name);
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Two blocks of width 16.
  std::string tiny() const {
    return file("tiny.json",
                R"({"model": {"backbone": "transformer-xl", "arch": "sf", "width": 16, "heads": [2],
        "inner": [32], "vocabulary": 256, "dropout": 0.1},
      "training": {"batch": 4, "length": 16, "memory": 16, "steps": 40, "optimizer": "adam",
        "learning_rate": 0.01, "evaluate_every": 20, "evaluate_tokens": 500},
      "evaluation": {"batch": 2, "length": 16, "memory": 16}})");
  }
  std::string text() const {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "the cat sat on the mat. a dog ate the fog.\n";
    return file("text.txt", text);
  }
  std::string space(const SpaceChanges& changes = {}, const std::string& name = "small.toml") const {
    return file(name, small_space(changes));
  }
  // Of this device, for all tests of a program: each piece is timed once.
  static std::string profile() {
    static const TemporaryFolder folder;
    return (folder / "profile.db").string();
  }
  // A run of the tiny model; flags may change it.
  std::string trained(const std::string& name = "run", const std::string& flags = "") const {
    const Outcome outcome =
        heed("train " + tiny() + " --data " + text() + " -o " + path(name) + " --threads 1 " + flags);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return path(name);
  }

  // Ends with this code, says this on standard error, and nothing on standard output.
  static void refuses(const std::string& arguments, int code, const std::string& part) {
    const Outcome outcome = heed(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << ":\n" << outcome.output;
    EXPECT_TRUE(contains(outcome, part)) << arguments << ": expected '" << part << "' in:\n"
                                         << outcome.output;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_FALSE(contains(outcome, "json.exception")) << arguments << ":\n" << outcome.output;
    EXPECT_FALSE(contains(outcome, "assertion failed")) << arguments << ":\n" << outcome.output;
  }

  const TemporaryFolder folder_;
};

}  // namespace heed::test
