#include <sstream>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, BenchTimesForwardPassesAndTrainingSteps) {
  const std::string tiny_file = tiny();
  const Outcome forward =
      heed("bench " + tiny_file + " --forward --length 64 --seconds 0 --least 2 --profile --threads 1");
  ASSERT_EQ(forward.code, 0) << forward.output;
  for (const char* part :
       {"tokens/s", "planned", "measured", "linear", "attention", "in matrix products", "1 thread,"}) {
    EXPECT_TRUE(contains(forward, part)) << part << " in:\n" << forward.output;
  }
  // What scripts/bench-peers reads.
  for (const char* mode :
       {"--forward --memory 32", "--forward --memory 32 --recompute", "--train --dropout 0 --optimizer adam",
        "--train --dropout 0.5 --optimizer lamb --memory 8"}) {
    const Outcome outcome =
        heed("bench " + tiny_file + " --batch 2 --length 32 --seconds 0 --least 2 --json --profile " + mode);
    ASSERT_EQ(outcome.code, 0) << mode << ": " << outcome.output;
    const Json json = Json::parse(outcome.out);
    EXPECT_GT(json["seconds"]["median"].get<double>(), 0);
    EXPECT_GT(json["tokens_per_second"].get<double>(), 0);
    EXPECT_GT(json["memory"]["process_peak"].get<int64_t>(), json["memory"]["planned"].get<int64_t>());
    EXPECT_GT(json["profile"]["products_share"].get<double>(), 0);
    EXPECT_LT(json["profile"]["products_share"].get<double>(), 1);
  }
}

TEST_F(Verbs, BenchTimesPromptsAndSteps) {
  const std::string sru = file("sru.json", R"({"model": {"backbone": "sru++", "arch": "ra", "width": 16,
    "projection": [8], "vocabulary": 256}})");
  const std::string small =
      file("gpt2.json", R"({"model": {"arch": "sf", "width": 16, "heads": [2], "inner": [32],
    "vocabulary": 256, "context": 16}})");
  const std::string bench = "bench " + tiny() + " " + sru + " " + small + " " + trained() +
                            " --length 8,16 -t 1,2 --seconds 0 --least 3 ";
  const Outcome outcome = heed(bench + "--format jsonl");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  std::istringstream lines(outcome.out);
  std::vector<Json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  ASSERT_EQ(rows.size(), 4u * 2 * 2);
  EXPECT_EQ(rows[0]["length"], 8);
  EXPECT_EQ(rows[1]["threads"], 2);
  for (const Json& row : rows) {
    EXPECT_GT(row["load_seconds"]["p50"], 0);
    EXPECT_EQ(row["load_seconds"]["runs"], 3);
    EXPECT_GE(row["prompt_seconds"]["p99"], row["prompt_seconds"]["p50"]);
    EXPECT_GE(row["prompt_seconds"]["p50"], row["prompt_seconds"]["least"]);
    EXPECT_GE(row["prompt_seconds"]["spread"], 0);
    EXPECT_GT(row["first_token_seconds"], row["prompt_seconds"]["p50"]);  // loading comes before
    EXPECT_GT(row["memory"]["planned"], 0);
    // Nothing is left of 16 places after a prompt of 16.
    EXPECT_EQ(row["step_seconds"].is_null(), row["model"] == "gpt2" && row["length"] == 16) << row;
  }
  for (const char* format : {"table", "md", "csv", "json"}) {
    const Outcome printed = heed("bench " + tiny() + " --length 8 --seconds 0 --least 1 --format " + format);
    EXPECT_EQ(printed.code, 0) << printed.output;
    EXPECT_TRUE(contains(printed, "tiny")) << printed.output;
  }
  EXPECT_EQ(heed("bench " + tiny() + " --length 8 --seconds 0 --least 1 --format md").out.substr(0, 8),
            "| model ");
}

TEST_F(Verbs, BenchTellsFilesOfOneNameApart) {
  const std::string one = file("one/pick", content(tiny())), two = file("two/pick", content(tiny()));
  const Json rows =
      Json::parse(heed("bench " + one + " " + two + " --length 8 --seconds 0 --least 1 --format json").out);
  EXPECT_EQ(rows[0]["model"], one);
  EXPECT_EQ(rows[1]["model"], two);
}

TEST_F(Verbs, BenchTakesATrainedModelAndOneWithRecurrence) {
  EXPECT_EQ(heed("bench " + trained() + " --forward --length 16 --seconds 0 --least 1").code, 0);
  const std::string sru = file("sru.json", R"({"model": {"backbone": "sru++", "arch": "ra", "width": 16,
    "projection": [8], "vocabulary": 256}})");
  for (const char* mode : {"--forward", "--train"}) {
    const Outcome outcome = heed("bench " + sru + " --length 16 --memory 16 --seconds 0 --least 1 " + mode);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
  }
}

TEST_F(Verbs, BenchRefuses) {
  const std::string bench = "bench " + tiny() + " --forward ";
  refuses("bench", 2, "model is required");
  refuses(bench + "--least 0", 2, "--least is 0");
  refuses(bench + "--format csv", 2, "--format is for prompts and steps");
  refuses(bench + "--seconds -1", 2, "--seconds: '-1' was given");
  refuses(bench + "--seconds inf", 2, "--seconds: 'inf' was given");
  refuses(bench + "--threads 0", 2, "--threads: 0 asked for; give a number from 1 to 1024");
  refuses(bench + "--batch 0", 2, "must be at least 1");
  refuses(bench + "--memory -3", 2, "--memory: '-3' was given");
  refuses(bench + "--dropout 0", 2, "add --train");
  refuses("bench " + tiny() + " --dropout 0", 2, "add --train");
  refuses("bench " + tiny() + " --memory 3", 2, "add --forward or --train");
  refuses("bench " + tiny() + " --length 0", 2, "--length is 0; it must be from 1 on");
  refuses("bench gpt2-124m --length 2000", 2, "from 1 to the 1024 positions of gpt2-124m");
  refuses("bench " + tiny() + " --length short", 2, "'short' was given");
  refuses("bench " + tiny() + " --format xml", 2, "'xml' is not one of table, md, csv, json, jsonl");
  refuses(bench + "--length 8,16", 2, "one model and one length at a time");
  refuses("describe " + tiny() + " --threads 1,2", 2, "describe takes one number");
  refuses("bench " + tiny() + " --train --dropout 1", 2, "not in [0, 1)");
  refuses("bench " + tiny() + " --train --optimizer adaam", 2, "did you mean 'adam'?");
  refuses(bench + "--sekonds 3", 2, "unknown flag '--sekonds'; did you mean '--seconds'?");
  refuses("bench gpt2-124m --memory 5 --train", 2, "use memory 0");
  refuses(bench + "--batch 100000 --length 100000", 1,
          "are free; choose a smaller model, batch, length or memory");
  refuses("bench " + tiny() + " --batch 100000 --length 100000 --train", 1, "are needed");
}

TEST_F(Verbs, EveryInstructionSetCanBeForced) {
  const std::string bench = "bench " + tiny() + " --forward --length 32 --seconds 0 --least 1";
  const Outcome v3 = heed(bench, "HEED_ISA=v3");
  EXPECT_EQ(v3.code, 0) << v3.output;
  EXPECT_TRUE(contains(v3, "AVX2")) << v3.output;
  const Outcome unknown = heed(bench, "HEED_ISA=v9");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown, "v3 (AVX2) or v4 (AVX-512)")) << unknown.output;
}

TEST_F(Verbs, ThreadsFollowTheCoresAllowed) {
  const std::string bench = "bench " + tiny() + " --forward --length 32 --seconds 0 --least 1";
  const Outcome one = heed(bench, "taskset -c 0");
  EXPECT_TRUE(contains(one, "(1 thread, 1 core allowed")) << one.output;
  const Outcome bound = heed(bench, "OMP_PROC_BIND=true"), free = heed(bench);
  const auto threads = [](const Outcome& o) {
    return o.output.substr(o.output.find('('), o.output.find("allowed") - o.output.find('('));
  };
  EXPECT_EQ(threads(bound), threads(free));
}

}  // namespace
}  // namespace heed::test
