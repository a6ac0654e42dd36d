// The script in the shell it is for.
#include "heed/cli/verb.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

// What bash would offer for these words, the last one unfinished.
std::string offered(const std::string& script, const std::string& words, int last) {
  return shell("PATH=$(dirname " HEED_PROGRAM "):$PATH bash -c '. " + script + "; COMP_WORDS=(" + words +
               "); COMP_CWORD=" + std::to_string(last) + "; _heed; printf \"%s\\n\" \"${COMPREPLY[@]}\"'")
      .out;
}

TEST_F(Verbs, BashCompletesVerbsFlagsAndNames) {
  const std::string script = file("heed.bash", heed("completion bash").out);
  EXPECT_EQ(offered(script, "heed tr", 1), "train\n");
  EXPECT_EQ(offered(script, "heed train x --max-t", 3), "--max-time\n");
  EXPECT_EQ(offered(script, "heed describe par-base-wt103-s1", 2), "par-base-wt103-s1x4\n");
  EXPECT_EQ(offered(script, "heed search lts-g", 2), "lts-gpt2\nlts-gpt2-code\n");
  EXPECT_EQ(offered(script, "heed eval " + path("heed.b"), 2), path("heed.bash") + "\n");
}

TEST_F(Verbs, FishCompletesVerbsFlagsAndNames) {
  if (shell("command -v fish").code != 0) GTEST_SKIP() << "fish is not installed";
  const std::string script = file("heed.fish", heed("completion fish").out);
  const auto offers = [&](const std::string& line) {
    return shell("HOME=" + path("") + " PATH=$(dirname " HEED_PROGRAM "):$PATH fish -c 'source " + script +
                 "; complete -C \"" + line + "\"' | cut -f 1")
        .out;
  };
  EXPECT_EQ(offers("heed tr"), "train\n");
  EXPECT_EQ(offers("heed train x --max-t"), "--max-time\n");
  EXPECT_EQ(offers("heed describe par-base-wt103-s1"), "par-base-wt103-s1x4\n");
  EXPECT_EQ(offers("heed search lts-g"), "lts-gpt2\nlts-gpt2-code\n");
}

TEST_F(Verbs, EveryVerbAndFlagIsInEveryScript) {
  for (const char* name : {"bash", "fish", "zsh"}) {
    const Outcome script = heed(std::string("completion ") + name);
    EXPECT_EQ(script.code, 0);
    for (const auto& verb : cli::verbs()) EXPECT_NE(script.out.find(verb.name), std::string::npos) << name;
    EXPECT_NE(script.out.find("max-memory"), std::string::npos) << name;
    const std::string path = file(name, script.out);
    if (shell(std::string("command -v ") + name).code != 0) continue;
    const Outcome checked = shell(std::string(name) + " -n " + path);
    EXPECT_EQ(checked.code, 0) << name << ": " << checked.output;
  }
  refuses("completion", 2, "shell is required");
  refuses("completion tcsh", 2, "unknown shell 'tcsh'");
}

}  // namespace
}  // namespace heed::test
