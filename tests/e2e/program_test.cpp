// The program itself, and that no verb goes untested.
#include <sstream>

#include "heed/cli/verb.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, TheProgramExplainsItself) {
  const Outcome version = heed("--version"), help = heed("--help");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("heed ")) << version.output;
  for (const char* library : {"oneDNN ", "sqlite ", "cli11 ", "libmicrohttpd ", "GCC "})
    EXPECT_NE(version.out.find(library), std::string::npos) << version.out;
  EXPECT_EQ(help.code, 0);
  for (const auto& verb : cli::verbs()) {
    EXPECT_NE(help.out.find(verb.summary.substr(0, 20)), std::string::npos) << help.out;
    const Outcome own = heed(verb.name + " --help");
    EXPECT_EQ(own.code, 0);
    for (const std::string& example : verb.examples)
      EXPECT_NE(own.out.find("\n  " + example + "\n"), std::string::npos) << own.out;
    EXPECT_EQ(heed(verb.name + " -h").out, own.out);
    std::istringstream lines(own.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
  refuses("", 2, "give a verb: bench, completion");
  refuses("fly", 2, "unknown verb 'fly'");
  refuses("trian run", 2, "did you mean 'train'?");
  refuses("--fast", 2, "--help");
  refuses("--verison", 2, "did you mean '--version'?");
  EXPECT_EQ(heed("help").out, help.out);
  EXPECT_EQ(heed("help train").out, heed("train --help").out);
  refuses("help trian", 2, "did you mean 'train'?");
}

// Which commit it was built from, as git has it; a tree without git has none.
TEST_F(Verbs, TheVersionNamesTheCommit) {
  if (shell("git -C " HEED_SOURCE_DIR " rev-parse HEAD").code != 0) GTEST_SKIP() << "this is no git tree";
  const std::string said = heed("--version").out;
  const size_t begin = said.find("(commit ");
  ASSERT_NE(begin, std::string::npos) << said;
  EXPECT_EQ(
      shell("git -C " HEED_SOURCE_DIR " merge-base --is-ancestor " + said.substr(begin + 8, 12) + " HEAD")
          .code,
      0)
      << said;
}

TEST_F(Verbs, FlagsAndUnitsAreTheSameEverywhere) {
  const std::string run = "train " + tiny() + " --dry-run --json ";
  for (const char* same : {"--max-steps 2000", "--max_steps 2000", "--max_steps=2000", "--max-steps 2K",
                           "--steps 2k", "--steps 0.002M", "--tokens 128K", "--tokens=128k"})
    EXPECT_EQ(Json::parse(heed(run + same).out)["steps"], 2000) << same;
  refuses("train x --max-stpes 3", 2, "unknown flag '--max-stpes'; did you mean '--max-steps'?");
  refuses("train x --max_stpes=3", 2, "did you mean '--max-steps'?");
  refuses("train x --max-time soon", 2, "--max-time: 'soon' was given; write a time such as 500ms");
  refuses("train x --max-time -1s", 2, "--max-time: '-1s' was given");
  refuses("train x --samples 1.5", 2,
          "--samples: '1.5' was given; write a whole number from 0 on, such as 5000");
  refuses("train " + tiny() + " --dry-run --batch 3Q", 2, "--batch: '3Q' was given; write a whole number");
  refuses("search letters --max-memory lots", 2,
          "--max-memory: 'lots' was given; write a size such as 48MiB");
  refuses("bench txl-3m-bytes --dropout x", 2, "--dropout: 'x' was given; a number is expected");
  refuses("recipes --threads 0", 2, "give a number from 1 to 1024");
  refuses("recipes --threads two", 2, "--threads: 'two' was given");
  refuses("recipes --threads 1,2", 2, "recipes takes one number");
  refuses("train", 2, "train: give a recipe, or the weights of a model");
}

TEST_F(Verbs, OtherProgramsNamesForFlagsAreUnderstood) {
  const Json plain = Json::parse(heed("train " + tiny() + " --dry-run --json --batch 8").out);
  EXPECT_EQ(Json::parse(heed("train " + tiny() + " --dry-run --json --batch-size 8").out)["flops_per_step"],
            plain["flops_per_step"]);
  EXPECT_TRUE(contains(heed("train --help"), "also --lr"));
  refuses("train " + tiny() + " --dry-run --lr fast", 2, "--learning-rate cannot be 'fast'");
  refuses("train " + tiny() + " --dry-run --vocab-size some", 2, "--vocabulary: 'some' was given");
  const std::string run = trained();
  const std::string text = heed("generate " + run + " -p the -n 9 --temperature 0").out;
  EXPECT_EQ(heed("generate -m " + run + " -p the --n-predict 9 --temp 0").out, text);
  EXPECT_EQ(heed("generate --model " + run + " -p the -n 9 --temp 0 --ctx-size 64").code, 0);
}

TEST_F(Verbs, SuggestionsFollowMeaningThenSpelling) {
  refuses("train x --arch sf", 2,
          "unknown flag '--arch'; it is a setting of the model: --set model.arch=VALUE");
  refuses("train x --n-layer 3", 2, "--set model.arch=VALUE");
  refuses("generate x --dropout 3", 2, "which its recipe gives: {\"model\": {\"dropout\": ...}}");
  refuses("train x --max-iters 3", 2, "did you mean '--steps'?");
  refuses("train x --seq-len=3", 2, "did you mean '--length'?");
  refuses("train x --learn 3", 2, "did you mean '--learning-rate'?");
  refuses("train x --time 3", 2, "did you mean '--max-time'?");
  refuses("generate x --temper 1", 2, "did you mean '--temperature'?");
  refuses("generate x --max-new-tokens 1", 2, "did you mean '--tokens'?");
  const Outcome none = heed("recipes --temp 1");
  EXPECT_EQ(none.code, 2);
  EXPECT_FALSE(contains(none, "did you mean")) << none.output;
}

// In a terminal, as `script` makes one: a line is rewritten where that is possible, and nothing is coloured.
TEST_F(Verbs, LinesAreRewrittenInTerminalsThatCan) {
  if (shell("command -v script").code != 0) GTEST_SKIP() << "NO script HERE: TERMINALS ARE NOT TESTED";
  const auto said = [&](const std::string& environment, const std::string& out) {
    return shell(environment + " script -qec '" HEED_PROGRAM " train " + tiny() + " --data " + text() +
                 " -t 1 -o " + path(out) + "' /dev/null")
        .out;
  };
  const std::string plain = said("TERM=dumb", "dumb"), usual = said("TERM=xterm", "xterm");
  EXPECT_NE(usual.find("\r\033[Kstep "), std::string::npos) << usual;
  EXPECT_NE(plain.find("step 40/40"), std::string::npos) << plain;
  EXPECT_EQ(plain.find('\033'), std::string::npos) << plain;
  EXPECT_EQ(usual.find("\033[3"), std::string::npos) << usual;
  // A row that is too long would stay when the next is written.
  const std::string narrow =
      shell("TERM=xterm script -qec 'stty cols 60; " HEED_PROGRAM " train " + tiny() + " --data " + text() +
            " --steps 400 -t 1 -o " + path("narrow") + "' /dev/null")
          .out;
  const std::string clear = "\r\033[K";
  int rewritten = 0;
  for (size_t at = narrow.find(clear); at != std::string::npos; at = narrow.find(clear, at + 1)) {
    const size_t end = narrow.find_first_of("\r\n", at + 1);
    if (end == std::string::npos || narrow[end] == '\n' || narrow.compare(end, 2, "\r\n") == 0)
      continue;  // the last one
    EXPECT_LT(end - at - clear.size(), 60u) << narrow.substr(at, end - at);
    ++rewritten;
  }
  EXPECT_GT(rewritten, 0) << narrow;
}

// On processors as an emulator has them: an instruction that one lacks would end the program.
TEST_F(Verbs, RunsOnAnyProcessorWithAvx2AndTellsOthers) {
#ifdef HEED_SANITIZED
  GTEST_SKIP() << "the emulator has no room for a sanitizer's memory";
#endif
  if (shell("command -v qemu-x86_64").code != 0)
    GTEST_SKIP() << "NO qemu-user HERE: OTHER PROCESSORS ARE NOT TESTED";
  const Outcome old = shell("qemu-x86_64 -cpu Nehalem " HEED_PROGRAM " recipes");
  EXPECT_EQ(old.code, 1) << old.output;
  EXPECT_TRUE(contains(old, "this CPU lacks AVX2; heed needs x86-64-v3 at least")) << old.output;
  for (const char* words : {" --help", " manual", " completion bash"})
    EXPECT_EQ(shell(std::string("qemu-x86_64 -cpu Nehalem " HEED_PROGRAM) + words).code, 0) << words;
  const std::string words = " generate " + trained() + " -p the --ignore-end -n 20 --temperature 0 -t 1";
  const Outcome avx2 = shell("qemu-x86_64 -cpu Haswell-noTSX " HEED_PROGRAM + words);
  EXPECT_EQ(avx2.code, 0) << avx2.output;
  EXPECT_EQ(avx2.out, heed(words, "HEED_ISA=v3").out);
  const Outcome forced = shell("HEED_ISA=v4 qemu-x86_64 -cpu Haswell-noTSX " HEED_PROGRAM + words);
  EXPECT_EQ(forced.code, 1);
  EXPECT_TRUE(contains(forced, "this CPU lacks AVX-512")) << forced.output;
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
