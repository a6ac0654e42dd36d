#include <cmath>
#include <set>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, EvalScoresAModel) {
  const std::string run = trained("run", "--steps 200"), data = " --data " + text();
  const Outcome outcome = heed("eval " + run + data);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  for (const char* part : {"on the test part: bpc", "protocol: target 16, memory 16", "2 streams"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in:\n" << outcome.out;
  const Json json = Json::parse(heed("eval " + run + "/model --json" + data).out);
  const double bits = json["bits_per_token"];
  EXPECT_LT(bits, 5);  // 8 for who knows nothing
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp2(bits), 1e-9);
  EXPECT_NEAR(json["bits_per_byte"].get<double>(), bits, 1e-9);
  EXPECT_EQ(json["protocol"]["memory"], 16);
  // All counted tokens of two streams but the first of each.
  const Json whole = Json::parse(heed("eval " + run + " --reader whole --json" + data).out);
  EXPECT_EQ(whole["tokens"].get<int64_t>(), static_cast<int64_t>(content(path("text.txt")).size()) - 2);
  const Outcome part = heed("eval " + run + " --max-tokens 100 --json" + data);
  const Json some = Json::parse(part.out);
  EXPECT_TRUE(contains(part, "segment 4/4 ")) << part.output;
  EXPECT_LT(some["tokens"].get<int64_t>(), 150);
  // A length beyond the text is the text's.
  const Json wide = Json::parse(heed("eval " + run + " --length 16000000 --json" + data).out);
  const int64_t per_stream = json["tokens"].get<int64_t>() / 2;
  EXPECT_EQ(wide["protocol"]["length"], per_stream);
  const Json exact =
      Json::parse(heed("eval " + run + " --json --length " + std::to_string(per_stream) + data).out);
  EXPECT_EQ(wide["tokens"], json["tokens"]);
  EXPECT_EQ(wide["nats_per_token"], exact["nats_per_token"]);
}

// A run that was killed before its first evaluation has no model yet, but checkpoints.
TEST_F(Verbs, EvalReadsTheNewestCheckpoint) {
  const std::string run = trained("run", "--evaluate-every 0"), data = " --json --data " + text();
  const Json last = Json::parse(heed("eval " + run + data).out);  // the model of the last step
  std::filesystem::rename(run + "/model", path("model"));
  for (const std::string& name : {run, run + "/", run + "/checkpoints", run + "/checkpoints/step-00000040"}) {
    const Outcome outcome = heed("eval " + name + data);
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(Json::parse(outcome.out)["nats_per_token"], last["nats_per_token"]) << name;
    EXPECT_TRUE(contains(outcome, "step-00000040")) << outcome.output;
  }
  const std::string written = heed("generate " + run + " -p the -n 8 --seed 3").out;
  EXPECT_EQ(written, heed("generate " + path("model") + " -p the -n 8 --seed 3").out);
  EXPECT_TRUE(contains(heed("describe " + run), "self-attention"));
  EXPECT_EQ(heed("bench " + run + " --length 16 --seconds 0.01").code, 0);
  std::filesystem::remove_all(run + "/checkpoints");
  refuses("eval " + run + data, 2, "is a folder without a model");
}

TEST_F(Verbs, EvalWritesTheLossOfEachToken) {
  const std::string run = trained(), tsv = path("losses.tsv"),
                    eval = "eval " + run + " --reader whole --data " + text();
  const Outcome outcome = heed(eval + " --json --per-token " + tsv);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json score = Json::parse(outcome.out);
  const std::string bytes = content(path("text.txt"));
  std::ifstream lines(tsv);
  std::string header;
  std::getline(lines, header);
  EXPECT_EQ(header, "position\ttoken\tnats");
  std::set<size_t> positions;
  double sum = 0, nats;
  size_t position;
  for (int token; lines >> position >> token >> nats; sum += nats) {
    ASSERT_LT(position, bytes.size());
    ASSERT_EQ(token, static_cast<unsigned char>(bytes[position])) << position;
    EXPECT_TRUE(positions.insert(position).second) << position;
    EXPECT_GE(nats, 0);
  }
  EXPECT_TRUE(lines.eof());
  // All but the first token of each of two streams.
  EXPECT_EQ(positions.size(), score["tokens"].get<size_t>());
  EXPECT_FALSE(positions.contains(0) || positions.contains(bytes.size() / 2));
  EXPECT_NEAR(sum / static_cast<double>(positions.size()), score["nats_per_token"].get<double>(), 1e-7);

  const std::string before = content(tsv);
  refuses(eval + " --per-token " + tsv, 2, "losses.tsv exists; give a new file");
  EXPECT_EQ(content(tsv), before);
  refuses(eval + " --per-token " + path("none/losses.tsv"), 1, "losses.tsv: cannot be written");
  const Outcome some = heed(eval + " --max-tokens 100 --per-token " + path("some.tsv"));
  ASSERT_EQ(some.code, 0) << some.output;
  EXPECT_TRUE(contains(some, "some.tsv")) << some.output;
  const std::string first = content(path("some.tsv"));
  EXPECT_EQ(before.substr(0, first.size()), first);
}

TEST_F(Verbs, EvalGivesNoBitsPerByteWhereWordsAreUnknown) {
  const std::string data = " --data " + text(), words = "--steps 2 --tokenizer words";
  // Of nine words it knows four, and calls all others <unk>.
  const Outcome outcome = heed("train " + tiny() + data + " -o " + path("few") + " " + words +
                               " --vocabulary 6 --evaluate-every 1");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "(no bits per byte, since ")) << outcome.output;
  const Outcome printed = heed("eval " + path("few") + data);
  EXPECT_TRUE(contains(printed, "no bits per byte, since ")) << printed.output;
  EXPECT_TRUE(contains(printed, "% of the tokens are unknown words")) << printed.output;
  const Json few = Json::parse(heed("eval " + path("few") + " --json" + data).out);
  EXPECT_TRUE(few["bits_per_byte"].is_null()) << few;
  EXPECT_GT(few["unknown_share"], 0.4);
  EXPECT_LT(few["unknown_share"], 0.8);
  EXPECT_TRUE(few["bits_per_token"].is_number());
  // One that knows all words.
  const Outcome all = heed("train " + tiny() + data + " -o " + path("all") + " " + words + " --json");
  ASSERT_EQ(all.code, 0) << all.output;
  const Json trained = Json::parse(all.out),
             scored = Json::parse(heed("eval " + path("all") + " --json" + data).out);
  for (const auto& [json, bits] : {std::pair{trained, "best_bits_per_byte"}, {scored, "bits_per_byte"}}) {
    EXPECT_TRUE(json[bits].is_number()) << json;
    EXPECT_EQ(json["unknown_share"], 0) << json;
  }
}

TEST_F(Verbs, EvalGivesNoBitsPerByteWhereTokensHaveNoCapitals) {
  const std::string data = " --data " + text(), flags = "--steps 2 --tokenizer wordpiece --vocabulary 40";
  const std::string uncased = trained("uncased", flags),
                    cased = trained("cased", flags + " --set data.cased=true");
  const Outcome printed = heed("eval " + uncased + data);
  EXPECT_TRUE(contains(printed, "no bits per byte, since capital letters and accents are not in the tokens"))
      << printed.output;
  EXPECT_TRUE(Json::parse(heed("eval " + uncased + " --json" + data).out)["bits_per_byte"].is_null());
  EXPECT_TRUE(Json::parse(heed("eval " + cased + " --json" + data).out)["bits_per_byte"].is_number());
  EXPECT_EQ(Json::parse(content(cased + "/config.json"))["data"]["cased"], true);
  refuses("train " + tiny() + data + " -o " + path("bad") + " --set data.cased=true", 2,
          "bytes: cased was asked for, but it is a setting of wordpiece only");
}

TEST_F(Verbs, EvalRefusesWhatItIsGiven) {
  const std::string run = trained(), data = " --data " + text(), eval = "eval " + run + data;
  refuses("eval", 2, "model is required");
  refuses("eval " + run, 2, "--data PATH");
  refuses("eval " + path("nothing") + data, 2, "does not exist; give the folder of a run");
  refuses("eval par-base-wt103" + data, 2, "heed train par-base-wt103");
  refuses("eval " + tiny() + data, 2, "is a recipe without weights");
  refuses("eval " + run + " --data " + path("none"), 2, "does not exist");
  refuses("eval " + run + " --data " + file("empty", ""), 2, "is empty");
  refuses("eval " + run + " --data " + file("zeros", std::string(99, '\0')), 2, "is not text");
  refuses("eval " + run + " --data " + file("one", "x"), 2, "has no test part, only train");
  refuses("eval " + run + " --reader whole --data " + path("one"), 2, "has 1 tokens, too few");
  file("named/train.txt", "some text\n"), file("named/test.txt", "other text\n");
  refuses("eval " + run + " --part valid --data " + path("named"), 2, "has no valid part, only train, test");
  refuses(eval + " --part tets", 2, "'tets' is not one of train, valid, test");
  refuses(eval + " --reader plian", 2, "did you mean 'plain'?");
  refuses(eval + " --length 0", 2, "length is 0; it must be from 1");
  refuses(eval + " --memory -3", 2, "memory is -3; it must be from 0");
  refuses(eval + " --clamp many", 2, "--clamp: 'many' was given; write a whole number");
  refuses(eval + " --visible none", 2, "'none' is not one of all, same-length");
  refuses(eval + " --max-tokens -3", 2, "--max-tokens: '-3' was given; write a whole number from 0 on");
  refuses(eval + " --cache " + path("text.txt"), 1, "cannot be created");
  refuses(eval + " --memory 16777216 --batch 400", 1, "are needed");
  refuses(eval + " --memroy 3", 2, "did you mean '--memory'?");
}

TEST_F(Verbs, EvalRefusesDamagedModels) {
  const std::string run = trained(), data = " --data " + text();
  const auto damaged = [&](const std::string& name, const std::string& with) {
    const std::string copy = path("copy");
    std::filesystem::remove_all(copy);
    std::filesystem::copy(run + "/model", copy);
    file("copy/" + name, with);
    return "eval " + copy + data;
  };
  const std::string weights = content(run + "/model/model.safetensors"),
                    config = content(run + "/model/config.json");
  refuses(damaged("model.safetensors", weights.substr(0, 1000)), 1, "is it cut off?");
  refuses(damaged("model.safetensors", weights.substr(0, weights.size() - 1)), 1, "model.safetensors");
  refuses(damaged("model.safetensors", ""), 1, "has 0 bytes");
  refuses(damaged("model.safetensors", std::string(8, '\x7f') + "{}"), 1, "claims a header of");
  std::string broken = weights;
  broken.replace(broken.size() - 64, 64, std::string(64, '\xff'));
  refuses(damaged("model.safetensors", broken), 1, "is damaged: its checksum is ");
  broken.replace(broken.find("heed_checksum"), 13, "some_checksum");  // another program's
  refuses(damaged("model.safetensors", broken), 1, "the model is damaged");
  refuses(damaged("config.json", "{"), 1, "config.json: is not JSON");
  refuses(damaged("config.json", "[]"), 1, "instead of an object");
  refuses(damaged("config.json", R"({"heed": 3})"), 2, "a recipe is an object");
  refuses(damaged("config.json", R"({"model_type": 3})"), 2, "model_type is 3");
  refuses(damaged("config.json", R"({"model_type": "gpt2", "resid_pdrop": "x"})"), 2, "not a number");
  refuses(damaged("config.json", R"({"model_type": "gpt2"})"), 2, "another architecture than config.json");
  std::string wide = config;
  wide.replace(wide.find("\"width\": 16"), 11, "\"width\": 32");
  refuses(damaged("config.json", wide), 2, "the model of config.json needs");
  refuses(damaged("tokenizer.json", "{"), 1, "tokenizer.json: is not JSON");
  refuses(damaged("tokenizer.json", R"({"model": 3})"), 2, "is not a tokenizer heed can read");
  damaged("tokenizer.json", "");
  std::filesystem::remove(path("copy/tokenizer.json"));
  refuses("eval " + path("copy") + data, 2, "has neither tokenizer.json nor");
  std::filesystem::remove(path("copy/model.safetensors"));
  refuses("eval " + path("copy") + data, 2, "is a folder without a model");
  // A vocabulary larger than the model's.
  const std::string words = trained("words", "--tokenizer words");
  std::filesystem::copy_file(run + "/model/tokenizer.json", words + "/model/tokenizer.json",
                             std::filesystem::copy_options::overwrite_existing);
  refuses("eval " + words + data, 2, "it belongs to another model");
}

TEST_F(Verbs, ATokenizerOfAnotherModelIsRefused) {
  const std::string data = " --data " + text(), kind = "--steps 2 --tokenizer words --vocabulary ";
  const std::string run = trained("run", kind + "8"), smaller = trained("smaller", kind + "7"),
                    other = path("copy");
  ASSERT_EQ(heed("eval " + run + data).code, 0);
  const auto with = [&](const std::string& tokenizer) {
    std::filesystem::remove_all(other);
    std::filesystem::copy(run + "/model", other);
    file("copy/tokenizer.json", tokenizer);
    return other;
  };
  std::string changed = content(run + "/model/tokenizer.json");
  ASSERT_NE(changed.find("\"the\""), std::string::npos);
  changed.replace(changed.find("\"the\""), 5, "\"teh\"");
  for (const std::string& tokenizer : {content(smaller + "/model/tokenizer.json"), changed}) {
    with(tokenizer);
    refuses("eval " + other + data, 2, "is not the one that the model was trained with");
    refuses("generate " + other + " -p the", 2, "is not the one that the model was trained with");
  }
  // The same in another spelling.
  with(Json::parse(content(run + "/model/tokenizer.json")).dump());
  EXPECT_EQ(heed("eval " + other + data).code, 0);
  // A folder that does not say which it was.
  with(changed);
  Json config = Json::parse(content(other + "/config.json"));
  config.erase("heed_tokenizer_hash");
  file("copy/config.json", config.dump());
  EXPECT_EQ(heed("eval " + other + data).code, 0);
}

}  // namespace
}  // namespace heed::test
