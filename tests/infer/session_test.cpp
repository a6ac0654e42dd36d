// A session, however it is fed, against one pass over the whole text.
#include "heed/infer/session.h"

#include <gtest/gtest.h>

#include <thread>

#include "heed/base/threads.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using infer::Session;
using test::expect_equal_to_rounding;
using test::random_tokens;
using test::Runner;
using test::small_model;

struct Case {
  std::string name;
  spec::ModelSpec spec;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"TransformerXl", small_model("transformer-xl", "(sf)x2")});
  all.push_back({"Sru", small_model("sru++", "(ra)x2")});
  all.push_back({"SruWithTwoHeads", small_model("sru++", "(a)x3")});
  all.back().spec.recurrence.heads = 2;
  all.push_back({"Recurrence", small_model("sru++", "(r)x2")});
  all.push_back({"AllLetters", small_model("sru++", test::all_letters())});
  all.push_back({"AllLettersNormAfter", small_model("transformer-xl", test::all_letters())});
  all.push_back({"AttentionWithBiases", small_model("transformer-xl", "(sf)x2")});
  all.back().spec.attention.bias = true;
  all.push_back({"Adaptive", small_model("transformer-xl", "(sff)x2")});
  all.back().spec.embedding.cutoffs = {9, 17}, all.back().spec.embedding.division = 2;
  all.push_back({"Gpt2", small_model("gpt2", "(sf)x2")});
  all.push_back({"WithoutPositions", small_model("gpt2", "(sf)x2")});
  all.back().spec.positions = Positions::kNone;
  all.push_back({"Gpt2WithRecurrence", small_model("gpt2", "srff")});
  all.push_back({"Gpt2Adaptive", small_model("gpt2", "(sf)x2")});
  all.back().spec.embedding.cutoffs = {11}, all.back().spec.embedding.division = 4;
  return all;
}

bool learned(const spec::ModelSpec& spec) { return spec.positions == Positions::kLearned; }

model::Source weights(const spec::ModelSpec& spec) {
  return test::weights_for_tests(model::weights_of(spec));
}

// Scores after every token, in one pass that makes everything anew; each token sees `memory` before it.
std::vector<float> full_scores(const spec::ModelSpec& spec, std::span<const int32_t> tokens, int64_t memory) {
  model::Inference once{.end = model::GraphEnd::kScores};
  if (!learned(spec)) once.past = model::memory(memory), once.protocol.visible = Visible::kBand;
  return Runner(spec, {once, 1, static_cast<int64_t>(tokens.size())}).run(tokens);
}

void expect_row(std::span<const float> actual, const std::vector<float>& all, size_t row, int64_t vocabulary,
                const std::string& what) {
  const auto V = static_cast<size_t>(vocabulary);
  expect_equal_to_rounding(actual, std::span(all).subspan(row * V, V), what);
}

class Sessions : public testing::TestWithParam<Case> {
 protected:
  const spec::ModelSpec spec_ = GetParam().spec;

  // Feeds the text in pieces of random size up to `most`; every answer is compared.
  void check(Session& session, std::span<const int32_t> tokens, const std::vector<float>& expected,
             int64_t most, const std::string& what) {
    Rng rng(static_cast<uint64_t>(most), 3);
    for (size_t at = 0; at < tokens.size() && !HasFailure();) {
      const auto count = std::min(tokens.size() - at, static_cast<size_t>(1 + rng.below(most)));
      const auto answer = session.feed(tokens.subspan(at, count));
      at += count;
      expect_row(answer, expected, at - 1, spec_.embedding.vocabulary,
                 text(what, ", pieces of up to ", most, ", token ", at - 1));
    }
  }
};

TEST_P(Sessions, PiecesOfAnySizeGiveTheScoresOfTheWholeText) {
  const std::vector<int32_t> tokens = random_tokens(spec_.embedding.context, spec_.embedding.vocabulary);
  const std::vector<float> expected = full_scores(spec_, tokens, spec_.embedding.context);
  for (const int64_t chunk : {1, 2, 7, 64}) {
    Session session(spec_, {spec_.embedding.context, chunk}, weights(spec_));
    for (const int64_t most : {1, 3, 9, 40}) {
      check(session, tokens, expected, most, text("chunks of ", chunk));
      session.restart();
    }
  }
}

// Caches move several times; what is seen stays a band, whatever the pieces.
TEST_P(Sessions, BeyondItsMemoryEachTokenSeesThatMuch) {
  if (learned(spec_)) GTEST_SKIP() << "sees its context";
  const std::vector<int32_t> tokens = random_tokens(100, spec_.embedding.vocabulary);
  for (const int64_t memory : {0, 1, 6}) {
    const std::vector<float> expected = full_scores(spec_, tokens, memory);
    for (const int64_t chunk : {1, 5, 16}) {
      Session session(spec_, {memory, chunk}, weights(spec_));
      EXPECT_EQ(session.memory_tokens(), memory);
      for (const int64_t most : {1, 4, 40}) {
        check(session, tokens, expected, most, text("memory ", memory, ", chunks of ", chunk));
        session.restart();
      }
    }
  }
}

TEST_P(Sessions, BeyondTheContextTheNewerHalfIsReadAgain) {
  if (!learned(spec_)) GTEST_SKIP() << "has no context";
  // A recurrence begins again with what is read again, so that it, too, knows no more than that.
  const auto context = static_cast<size_t>(spec_.embedding.context);
  const std::vector<int32_t> tokens = random_tokens(3 * spec_.embedding.context, spec_.embedding.vocabulary);
  for (const int64_t most : {1, 3, 20, 90}) {
    Session session(spec_, {1, 7}, weights(spec_));
    EXPECT_EQ(session.memory_tokens(), spec_.embedding.context);
    EXPECT_EQ(session.tokens_read(spec_.embedding.context), spec_.embedding.context);
    EXPECT_EQ(session.tokens_read(spec_.embedding.context + 1), spec_.embedding.context / 2);
    Rng rng(static_cast<uint64_t>(most), 4);
    std::vector<int32_t> seen;
    for (size_t at = 0; at < tokens.size() && !HasFailure();) {
      const auto count = std::min(tokens.size() - at, static_cast<size_t>(1 + rng.below(most)));
      const auto answer = session.feed(std::span(tokens).subspan(at, count));
      seen.insert(seen.end(), tokens.begin() + static_cast<std::ptrdiff_t>(at),
                  tokens.begin() + static_cast<std::ptrdiff_t>(at + count));
      at += count;
      if (seen.size() > context)
        seen.erase(seen.begin(), seen.end() - static_cast<std::ptrdiff_t>(context / 2));
      expect_row(answer, full_scores(spec_, seen, 0), seen.size() - 1, spec_.embedding.vocabulary,
                 text("pieces of up to ", most, ", token ", at - 1));
    }
  }
}

TEST_P(Sessions, ARestartForgetsEverything) {
  Session session(spec_, {9, 5}, weights(spec_));
  const std::vector<int32_t> tokens = random_tokens(60, spec_.embedding.vocabulary),
                             other = random_tokens(13, 29, 1);
  const auto answer = [&](const std::vector<int32_t>& text) {
    const auto scores = session.feed(text);
    return std::vector<float>(scores.begin(), scores.end());
  };
  const std::vector<float> first = answer(tokens), second = answer(other);
  EXPECT_NE(first, second);
  session.restart();
  EXPECT_EQ(answer(tokens), first);
  EXPECT_EQ(answer(other), second);
  session.restart();
  EXPECT_NE(answer(other), second);
}

// Two texts at once, each on its own thread, against each of them alone.
TEST_P(Sessions, WithTheSameWeightsRunAtTheSameTime) {
  set_work_worth_a_thread(0);  // so that every loop of both is shared among workers
  const std::vector<int32_t> texts[] = {random_tokens(60, spec_.embedding.vocabulary),
                                        random_tokens(60, spec_.embedding.vocabulary, 1)};
  const auto answers = [&](Session& session, const std::vector<int32_t>& text) {
    std::vector<float> all;
    for (size_t at = 0; at < text.size(); at += 3) {
      const auto scores = session.feed(std::span(text).subspan(at, 3));
      all.insert(all.end(), scores.begin(), scores.end());
    }
    return all;
  };
  std::vector<float> alone[2], together[2];
  for (int i : {0, 1}) {
    Session session(spec_, {9, 5}, weights(spec_));
    alone[i] = answers(session, texts[i]);
  }
  Session first(spec_, {9, 5}, weights(spec_)), second = first.with_same_weights();
  for (const auto& [name, tensor] : first.weights().all())
    EXPECT_EQ(second.weights().at(name).data, tensor.data) << name;
  std::thread other([&] { together[1] = answers(second, texts[1]); });
  together[0] = answers(first, texts[0]);
  other.join();
  set_work_worth_a_thread(kWorkWorthAThread);
  EXPECT_NE(alone[0], alone[1]);
  for (int i : {0, 1}) EXPECT_EQ(together[i], alone[i]);
}

INSTANTIATE_TEST_SUITE_P(Infer, Sessions, testing::ValuesIn(cases()),
                         [](const auto& given) { return given.param.name; });

TEST(SessionMemory, CountsBothProgramsAndHalfTheCacheOfOneHead) {
  spec::ModelSpec spec = small_model("sru++", "(a)x3");
  const graph::Memory one = Session(spec, {100}, weights(spec)).memory();
  spec.recurrence.heads = 2;
  const graph::Memory two = Session(spec, {100}, weights(spec)).memory();
  const int64_t rows = 100 + 64 + 25, cell = 128;  // 24 floats, rounded up to whole lines of the cache
  EXPECT_EQ(one.state, 3 * (align_up(4 * rows * 18) + cell));
  EXPECT_EQ(two.state, 3 * (align_up(4 * rows * 2 * 18) + cell));
  EXPECT_GT(one.arena, 0);
}

}  // namespace
}  // namespace heed
