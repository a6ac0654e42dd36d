// A writer with models whose next token is known: each token is followed by the one a table says.
#include "heed/infer/writer.h"

#include <gtest/gtest.h>

#include "heed/model/model.h"
#include "tests/support/small_models.h"

namespace heed::infer {
namespace {

struct Follows {
  int32_t token, successor;
  float logit = 1;
};

// Rows of the token table are unit vectors, and nothing stands between them and the output: the logits after
// a token are its column of the output table, 0 for all that are not named.
Session session_of(const std::vector<Follows>& next, int64_t vocabulary) {
  const Json settings = {{"backbone", "transformer-xl"}, {"arch", "i"},          {"width", vocabulary},
                         {"vocabulary", vocabulary},     {"tie_weights", false}, {"dropout", 0}};
  return Session(spec::read_model_spec(settings, "test"), {},
                 [next, vocabulary](const std::string& name, const Tensor& into) {
                   const auto V = static_cast<size_t>(vocabulary);
                   std::fill(into.floats().begin(), into.floats().end(), 0.f);
                   if (name == "embedding.table") {
                     for (size_t token = 0; token < V; ++token) into.floats()[token * V + token] = 1;
                   } else if (name == "output.table") {
                     for (const auto& [token, successor, logit] : next)
                       into.floats()[static_cast<size_t>(successor) * V + static_cast<size_t>(token)] = logit;
                   }
                 });
}

// Always the most likely token.
Sampler greedy(double repeat_penalty = 1) {
  SamplingSpec spec;
  spec.temperature = 0;
  spec.repeat_penalty = repeat_penalty;
  return Sampler(spec);
}

std::unique_ptr<data::Tokenizer> learned(const std::string& kind, const std::string& text) {
  data::TokenizerSpec spec;
  spec.kind = kind;
  return data::learn_tokenizer(spec, [&](const auto& piece) { piece(text); });
}

std::vector<int32_t> ids_of(const data::Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  tokenizer.encode(text, ids);
  return ids;
}

TEST(Writer, ThePromptIsFedAtOnce) {
  const spec::ModelSpec spec = test::small_model("sru++", "sfriaf");
  const model::Source weights = test::weights_for_tests(model::weights_of(spec));
  Session fed(spec, {64}, weights), written(spec, {64}, weights);
  const std::vector<int32_t> prompt = test::random_tokens(11, spec.embedding.vocabulary);
  fed.feed(prompt);
  Sampler sampler = greedy();
  const auto bytes = learned("bytes", "");
  const Writer writer(written, sampler, *bytes, prompt);
  EXPECT_EQ(writer.written(), 0);
  EXPECT_EQ(sampler.drawn(), 0);
  const int32_t token = 3;
  const auto expected = fed.feed({&token, 1}), found = written.feed({&token, 1});
  EXPECT_EQ(std::vector<float>(found.begin(), found.end()),
            std::vector<float>(expected.begin(), expected.end()));
}

TEST(Writer, CharactersThatSpanTokensComeWhole) {
  const auto bytes = learned("bytes", "");
  Session session = session_of({{'a', 0xc3}, {0xc3, 0xa9}, {0xa9, 'b'}, {'b', 'a'}}, 256);
  Sampler sampler = greedy();
  Writer writer(session, sampler, *bytes, ids_of(*bytes, "xa"));
  EXPECT_EQ(writer.next(), "");
  EXPECT_EQ(writer.written(), 1);
  EXPECT_EQ(writer.next(), "é");
  EXPECT_EQ(writer.next(), "b");
  EXPECT_EQ(writer.next(), "a");
  EXPECT_EQ(writer.written(), 4);
  EXPECT_EQ(writer.finish(), "");
  EXPECT_EQ(writer.next(), "");
  EXPECT_EQ(writer.finish(), "\ufffd");  // half a character is left
  EXPECT_EQ(writer.written(), 5);
}

TEST(Writer, ABlankStandsBetweenWordsOnly) {
  const auto words = learned("words", "the cat sat\n");
  const std::vector<int32_t> ids = ids_of(*words, "the cat sat\n");
  ASSERT_EQ(ids.size(), 4u);
  Session session =
      session_of({{ids[0], ids[1]}, {ids[1], ids[2]}, {ids[2], ids[3]}, {ids[3], ids[0]}}, words->size());
  Sampler sampler = greedy();
  Writer writer(session, sampler, *words, {ids[0]});
  EXPECT_EQ(writer.next(), " cat");
  EXPECT_EQ(writer.next(), " sat");
  // The end of the text is no token of it, however often one asks.
  EXPECT_EQ(writer.next(), std::nullopt);
  EXPECT_EQ(writer.next(), std::nullopt);
  EXPECT_EQ(writer.written(), 2);
  // Ignored, it is a token like any other, and the first word of a line has no blank.
  EXPECT_EQ(writer.next(true), "\n");
  EXPECT_EQ(writer.next(true), "the");
  EXPECT_EQ(writer.next(), " cat");
  EXPECT_EQ(writer.written(), 5);
}

// A model may have more rows than its tokenizer has words.
TEST(Writer, DrawsOnlyWhatTheTokenizerKnows) {
  const auto words = learned("words", "a b\n");
  const int64_t V = words->size() + 5;
  Session session = session_of({{1, static_cast<int32_t>(V - 1)}, {0, 1}}, V);
  Sampler sampler = greedy();
  Writer writer(session, sampler, *words, {1});
  EXPECT_EQ(writer.next(true), "\n");  // token 0, the first of equals
  EXPECT_EQ(writer.next(true), "a");
}

TEST(Writer, TokensOfThePromptCountAsRecent) {
  const auto bytes = learned("bytes", "");
  Session session = session_of({{'a', 'a'}, {'a', 'b', 0.75f}, {'b', 'a'}, {'b', 'c', 0.75f}}, 256);
  Sampler sampler = greedy(2);  // halves the logits of 'a', then of 'b' too
  Writer writer(session, sampler, *bytes, ids_of(*bytes, "a"));
  EXPECT_EQ(writer.next(), "b");
  EXPECT_EQ(writer.next(), "c");
}

}  // namespace
}  // namespace heed::infer
