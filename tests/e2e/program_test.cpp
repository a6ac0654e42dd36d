// The program itself, and that no verb goes untested.
#include "heed/cli/verb.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, TheProgramExplainsItself) {
  const Outcome version = heed("--version"), help = heed("--help");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("heed ")) << version.output;
  EXPECT_EQ(help.code, 0);
  for (const auto& verb : cli::verbs()) {
    EXPECT_NE(help.out.find(verb.summary.substr(0, 20)), std::string::npos) << help.out;
    const Outcome own = heed(verb.name + " --help");
    EXPECT_EQ(own.code, 0);
    EXPECT_NE(own.out.find("Example: " + verb.example), std::string::npos) << own.out;
  }
  refuses("", 2, "give a verb: bench, describe");
  refuses("fly", 2, "unknown verb 'fly'");
  refuses("trian run", 2, "did you mean 'train'?");
  refuses("--fast", 2, "--help");
}

TEST_F(Verbs, RunsThroughAnExplicitLoader) {
  FILE* pipe = popen("/lib64/ld-linux-x86-64.so.2 " HEED_PROGRAM " describe gpt2-3m-bytes 2>&1", "r");
  ASSERT_NE(pipe, nullptr);
  while (fgetc(pipe) != EOF) {
  }
  EXPECT_EQ(pclose(pipe), 0);
}

TEST(Coverage, NoVerbIsLeftOut) {
  for (const auto& verb : cli::verbs()) {
    std::ifstream file(HEED_SOURCE_DIR "/tests/e2e/" + verb.name + "_test.cpp");
    const std::string source(std::istreambuf_iterator<char>(file), {});
    for (const std::string& use : {"heed(\"" + verb.name, "refuses(\"" + verb.name})
      EXPECT_NE(source.find(use), std::string::npos)
          << "tests/e2e/" << verb.name << "_test.cpp has no " << use << "...";
  }
}

}  // namespace
}  // namespace heed::test
