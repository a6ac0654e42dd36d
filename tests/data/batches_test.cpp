#include "heed/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "heed/base/philox.h"
#include "heed/data/sentence_batches.h"
#include "tests/data/support.h"
#include "tests/support/messages.h"

namespace heed::data {
namespace {

// Tokens 0 .. count-1, so that a token tells its own place. Two bytes of text for each.
class Numbers : public Tokenizer {
 public:
  std::string_view kind() const override { return "numbers"; }
  int64_t size() const override { return 1 << 16; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    for (size_t i = 0; i + 1 < text.size(); i += 2)
      ids.push_back(static_cast<unsigned char>(text[i]) << 8 | static_cast<unsigned char>(text[i + 1]));
  }
  size_t cut_before(std::string_view, size_t position) const override { return position / 2 * 2; }
  std::string decode(std::span<const int32_t>) const override { return ""; }
  Json to_json() const override { return "numbers"; }
};

struct Numbered {
  explicit Numbered(int64_t count) {
    std::string text;
    for (int64_t i = 0; i < count; ++i) text += {static_cast<char>(i >> 8), static_cast<char>(i & 255)};
    folder.write("news.en-00001-of-00100", text);
    Reading reading;
    reading.files.push_back(std::make_unique<const MappedFile>(folder.path() / "news.en-00001-of-00100"));
    reading[Split::kTrain].push_back({reading.files[0]->text(), reading.files[0].get()});
    corpus = std::make_unique<Corpus>("numbers", "none", std::move(reading));
    stream = std::make_unique<TokenStream>(corpus->part(Split::kTrain), Numbers(), folder.path());
  }
  ScratchFolder folder;
  std::unique_ptr<Corpus> corpus;
  std::unique_ptr<TokenStream> stream;
};

struct Whole {
  std::vector<int32_t> tokens, targets;
  std::vector<BatchInfo> info;  // of each chunk
};

Whole whole(Batches& batches, int64_t step) {
  const BatchShape& shape = batches.shape();
  const auto size = static_cast<size_t>(shape.sequences * shape.length),
             part = size / static_cast<size_t>(shape.chunks);
  Whole batch{std::vector<int32_t>(size, -9), std::vector<int32_t>(size, -9), {}};
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
    const size_t at = static_cast<size_t>(chunk) * part;
    batch.info.push_back(batches.fill(
        step, chunk,
        {std::span(batch.tokens).subspan(at, part), std::span(batch.targets).subspan(at, part)}));
  }
  return batch;
}

TEST(StreamBatches, EqualAPlainLoop) {
  for (const int64_t count : {2, 7, 64, 65, 100, 1001}) {
    const Numbered data(count);
    for (const BatchShape shape :
         {BatchShape{1, 1, 1}, {1, 8, 1}, {2, 5, 1}, {2, 5, 2}, {6, 4, 3}, {8, 7, 2}, {1, 5000, 1}}) {
      const int64_t row = count / shape.sequences;
      if (row < 2) continue;
      StreamBatches batches(*data.stream, shape);
      int64_t step = 0, counted = 0;
      for (int64_t epoch = 0; epoch < 2; ++epoch) {
        for (int64_t at = 0; at < row - 1; at += shape.length, ++step) {
          const Whole batch = whole(batches, step);
          int64_t real = 0;
          for (int64_t b = 0; b < shape.sequences; ++b) {
            for (int64_t t = 0; t < shape.length; ++t) {
              const bool there = at + t + 1 < row;
              real += there;
              const auto i = static_cast<size_t>(b * shape.length + t);
              ASSERT_EQ(batch.tokens[i], there ? b * row + at + t : 0);
              ASSERT_EQ(batch.targets[i], there ? b * row + at + t + 1 : kIgnored);
              ASSERT_TRUE(!there || batches.first_target(step, b) == batch.targets[i] - t);
            }
          }
          for (const BatchInfo& info : batch.info) {
            EXPECT_EQ(info.epoch, epoch);
            EXPECT_EQ(info.first_of_epoch, at == 0);
            EXPECT_EQ(info.counted, real / shape.chunks);
            EXPECT_EQ(info.counted_in_batch, real);
          }
          counted += real;
        }
      }
      EXPECT_EQ(batches.segments() * 2, step);
      EXPECT_EQ(counted, 2 * shape.sequences * (row - 1));
      EXPECT_EQ(batches.counted_in_epoch() * 2, counted);
    }
  }
}

TEST(StreamBatches, MayLeaveTheShortSegmentOut) {
  const Numbered data(100);
  StreamBatches batches(*data.stream, {4, 10}, {.short_segment = false});
  EXPECT_EQ(batches.segments(), 2);  // 24 targets a row
  EXPECT_EQ(batches.counted_in_epoch(), 80);
  EXPECT_EQ(whole(batches, 2).info[0].epoch, 1);
  EXPECT_EQ(whole(batches, 1).info[0].counted, 40);
  StreamBatches fits(*data.stream, {4, 12}, {.short_segment = false});
  EXPECT_EQ(fits.segments(), 2);
}

// A rolled row holds its own tokens, from a place of its own in each epoch on.
TEST(StreamBatches, RollRotatesEachRow) {
  const Numbered data(400);
  const BatchShape shape{4, 9, 2};
  const int64_t row = 100;
  StreamBatches batches(*data.stream, shape, {.roll = true, .seed = 5});
  StreamBatches other(*data.stream, shape, {.roll = true, .seed = 6});
  ASSERT_EQ(batches.segments(), 11);
  EXPECT_FALSE(batches.first_target(0, 0));
  std::set<int64_t> offsets;
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<int64_t> first;
    for (int64_t segment = 0; segment < 11; ++segment) {
      const Whole batch = whole(batches, epoch * 11 + segment);
      for (int64_t b = 0; b < 4; ++b) {
        if (segment == 0) first.push_back(batch.tokens[static_cast<size_t>(b * 9)] - b * row);
        for (int64_t t = 0; t < 9; ++t) {
          const int64_t place = first[static_cast<size_t>(b)] + segment * 9 + t;
          ASSERT_EQ(batch.tokens[static_cast<size_t>(b * 9 + t)], b * row + place % row);
          ASSERT_EQ(batch.targets[static_cast<size_t>(b * 9 + t)], b * row + (place + 1) % row);
        }
      }
    }
    offsets.insert(first.begin(), first.end());
    EXPECT_NE(whole(batches, epoch * 11).tokens, whole(other, epoch * 11).tokens);
  }
  EXPECT_GE(offsets.size(), 15u);  // 20 draws from 100 seldom meet
}

TEST(StreamBatches, WarmUpRunsTheEndOfTheStreamBefore) {
  const Numbered data(103);
  for (const auto& [tokens, segments] :
       {std::pair<int64_t, int64_t>{1, 1}, {8, 1}, {9, 2}, {30, 4}, {230, 29}}) {
    const int64_t row = 25, length = 8, warm = segments * length;
    StreamBatches batches(*data.stream, {4, length, 2}, {.warm_up_tokens = tokens});
    ASSERT_EQ(batches.segments(), segments + 3);
    EXPECT_EQ(batches.counted_in_epoch(), 4 * 24);
    for (int64_t step = 0; step < batches.segments(); ++step) {
      const Whole batch = whole(batches, step);
      EXPECT_EQ(batch.info[0].first_of_epoch, step == 0);
      EXPECT_EQ(batch.info[1].counted_in_batch == 0, step < segments);
      for (int64_t b = 0; b < 4; ++b) {
        for (int64_t t = 0; t < length; ++t) {
          const int64_t place = step * length + t - warm;  // in the row
          const int64_t flat = ((b * row + place) % 100 + 300) % 100;
          const bool past_end = place + 1 >= row;
          const auto i = static_cast<size_t>(b * length + t);
          ASSERT_EQ(batch.tokens[i], past_end ? 0 : flat) << tokens << " " << step;
          ASSERT_EQ(batch.targets[i], past_end || place < 0 ? kIgnored : flat + 1);
          ASSERT_TRUE(batch.targets[i] == kIgnored || batches.first_target(step, b) == flat + 1 - t);
        }
      }
    }
    EXPECT_EQ(whole(batches, batches.segments()).tokens, whole(batches, 0).tokens);
  }
}

TEST(StreamBatches, AStepIsAFunctionOfItsNumber) {
  const Numbered data(5000);
  const BatchShape shape{4, 300, 2};
  StreamBatches forward(*data.stream, shape, {.roll = true, .seed = 1});
  std::map<int64_t, Whole> seen;
  for (int64_t step = 0; step < 40; ++step) seen[step] = whole(forward, step);
  for (const int64_t step : {39, 0, 17, 17, 4}) {
    StreamBatches resumed(*data.stream, shape, {.roll = true, .seed = 1});
    const Whole batch = whole(resumed, step);
    EXPECT_EQ(batch.tokens, seen[step].tokens) << step;
    EXPECT_EQ(batch.targets, seen[step].targets) << step;
  }
}

TEST(StreamBatches, RefuseTextsThatAreTooShort) {
  const Numbered one(1), ten(10);
  expect_error(
      [&] {
        StreamBatches(*one.stream, {1, 1});
      },
      ErrorKind::kUsage, "has 1 token, too few for batches of 1 x 1; at least 2");
  expect_error([&] { StreamBatches(*ten.stream, {6, 4}); }, ErrorKind::kUsage, "at least 12");
  expect_error(
      [&] {
        StreamBatches(*ten.stream, {2, 5}, {.short_segment = false});
      },
      ErrorKind::kUsage, "at least 12");
  expect_error([&] { StreamBatches(*ten.stream, {4, 1, 3}); }, ErrorKind::kUsage, "multiple of chunks");
  expect_error([&] { StreamBatches(*ten.stream, {0, 1}); }, ErrorKind::kUsage, "at least 1");
  EXPECT_NO_THROW(StreamBatches(*ten.stream, {5, 100}));
}

// Shards of random sentences; bytes as tokens, a line end as their end.
struct Shards {
  explicit Shards(const std::vector<int>& sizes, const std::string& last_line_end = "\n") {
    Rng rng(3);
    for (size_t shard = 0; shard < sizes.size(); ++shard) {
      std::string text;
      for (int i = 0; i < sizes[shard]; ++i) {
        // Numbered, so that no two are alike.
        std::string sentence = std::to_string(shard) + "." + std::to_string(i) + ":";
        sentence.append(static_cast<size_t>(rng.below(12)), static_cast<char>('a' + rng.below(26)));
        sentences.push_back({shard, sentence});
        text += sentence + (i + 1 == sizes[shard] ? last_line_end : rng.below(5) == 0 ? "\n\n" : "\n");
      }
      folder.write("data/news.en-0000" + std::to_string(shard + 1) + "-of-00100", text);
    }
    corpus = std::make_unique<Corpus>(open_corpus(folder.path() / "data"));
    stream = std::make_unique<TokenStream>(corpus->part(Split::kTrain), FakeBytes(256, '\n'), folder.path());
  }
  ScratchFolder folder;
  std::vector<std::pair<size_t, std::string>> sentences;
  std::unique_ptr<Corpus> corpus;
  std::unique_ptr<TokenStream> stream;
};

// The rows of an epoch: inputs and targets one after another, ignored ones left out.
struct Rows {
  std::vector<std::string> inputs, targets;
};
Rows rows_of(Batches& batches, int64_t epoch) {
  const auto b = static_cast<size_t>(batches.shape().sequences),
             t = static_cast<size_t>(batches.shape().length);
  Rows rows{std::vector<std::string>(b), std::vector<std::string>(b)};
  for (int64_t segment = 0; segment < batches.segments(); ++segment) {
    const Whole batch = whole(batches, epoch * batches.segments() + segment);
    int64_t counted = 0, in_chunks = 0;
    for (size_t i = 0; i < b * t; ++i) {
      if (batch.targets[i] == kIgnored) {
        EXPECT_EQ(batch.tokens[i], 0);
        continue;
      }
      ++counted;
      EXPECT_TRUE(i % t == 0 || batch.targets[i - 1] != kIgnored) << "ignored targets stand at the end";
      rows.inputs[i / t] += static_cast<char>(batch.tokens[i]);
      rows.targets[i / t] += static_cast<char>(batch.targets[i]);
    }
    for (const BatchInfo& info : batch.info) {
      EXPECT_EQ(info.epoch, epoch);
      EXPECT_EQ(info.first_of_epoch, segment == 0);
      EXPECT_EQ(info.counted_in_batch, counted);
      in_chunks += info.counted;
    }
    EXPECT_EQ(in_chunks, counted);
  }
  return rows;
}

// Pours the sentences in the given order with one position at a time, and stops where the epoch does.
Rows poured(const std::vector<std::string>& order, BatchShape shape, int64_t segments) {
  const auto b = static_cast<size_t>(shape.sequences);
  Rows rows{std::vector<std::string>(b), std::vector<std::string>(b)};
  std::vector<std::string> left(b);
  size_t next = 0;
  for (int64_t segment = 0; segment < segments; ++segment) {
    for (size_t row = 0; row < b; ++row) {
      for (int64_t t = 0; t < shape.length; ++t) {
        if (left[row].empty()) {
          if (next == order.size()) break;
          left[row] = order[next++] + "\n";
        }
        rows.inputs[row] += rows.targets[row].empty() ? '\n' : rows.targets[row].back();
        rows.targets[row] += left[row][0];
        left[row].erase(0, 1);
      }
    }
  }
  return rows;
}

TEST(SentenceBatches, PourShuffledSentencesOneAfterAnother) {
  const Shards data({37, 1, 50});
  // One sequence shows the order itself, all but the end that is cut off.
  for (const uint64_t seed : {1, 2}) {
    SentenceBatches single(*data.stream, {1, 3}, seed);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      const Rows row = rows_of(single, epoch);
      std::vector<std::string> order;
      for (size_t at = 0, end; (end = row.targets[0].find('\n', at)) != std::string::npos; at = end + 1)
        order.push_back(row.targets[0].substr(at, end - at));
      ASSERT_GE(order.size(), 87u);
      if (order.size() == 87) {  // the last one lost its end
        for (const auto& [shard, sentence] : data.sentences) {
          if (std::find(order.begin(), order.end(), sentence) == order.end()) {
            order.push_back(sentence);
            break;
          }
        }
      }
      // Each shard's sentences in their turn, all of them, in another order.
      std::vector<std::string> sorted = order, known;
      for (const auto& [shard, sentence] : data.sentences) known.push_back(sentence);
      for (const auto& [begin, end] : {std::pair{0, 37}, {37, 38}, {38, 88}}) {
        EXPECT_TRUE(std::is_permutation(order.begin() + begin, order.begin() + end, known.begin() + begin));
      }
      EXPECT_NE(order, known);
      // Any other shape pours the same order.
      for (const BatchShape shape : {BatchShape{1, 100, 1}, {2, 5, 1}, {6, 7, 3}, {8, 1, 2}, {40, 4, 4}}) {
        SentenceBatches batches(*data.stream, shape, seed);
        int64_t targets = 0;
        for (const std::string& sentence : known) targets += static_cast<int64_t>(sentence.size()) + 1;
        EXPECT_EQ(batches.segments(), targets / (shape.sequences * shape.length));
        const Rows found = rows_of(batches, epoch), expected = poured(order, shape, batches.segments());
        EXPECT_EQ(found.inputs, expected.inputs);
        EXPECT_EQ(found.targets, expected.targets);
      }
    }
  }
}

TEST(SentenceBatches, SeedsAndEpochsHaveOrdersOfTheirOwn) {
  const Shards data({60, 60});
  SentenceBatches first(*data.stream, {2, 10}, 1), second(*data.stream, {2, 10}, 2);
  std::set<std::string> seen;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    seen.insert(rows_of(first, epoch).targets[0]);
    seen.insert(rows_of(second, epoch).targets[0]);
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(SentenceBatches, AStepIsAFunctionOfItsNumber) {
  const Shards data({80, 40, 10});
  const BatchShape shape{4, 9, 2};
  SentenceBatches forward(*data.stream, shape, 7);
  const int64_t steps = 3 * forward.segments();
  std::vector<Whole> seen;
  for (int64_t step = 0; step < steps; ++step) seen.push_back(whole(forward, step));
  const auto check = [&](SentenceBatches& batches, int64_t step) {
    const Whole batch = whole(batches, step);
    EXPECT_EQ(batch.tokens, seen[static_cast<size_t>(step)].tokens) << step;
    EXPECT_EQ(batch.targets, seen[static_cast<size_t>(step)].targets) << step;
  };
  for (int64_t step = steps - 1; step >= 0; step -= 5) {
    check(forward, step);
    SentenceBatches resumed(*data.stream, shape, 7);
    check(resumed, step);
    if (step + 1 < steps) check(resumed, step + 1);
  }
}

// A shard may end without a line end: its last sentence then has no end to predict.
TEST(SentenceBatches, TakeAShardWithoutALastLineEnd) {
  const Shards data({2, 2}, "");
  SentenceBatches batches(*data.stream, {1, 1}, 1);
  const std::string inputs = rows_of(batches, 0).inputs[0], targets = rows_of(batches, 0).targets[0];
  EXPECT_EQ(std::count(targets.begin(), targets.end(), '\n'), 2);
  EXPECT_EQ(std::count(inputs.begin(), inputs.end(), '\n'), 4);
}

TEST(SentenceBatches, RefuseWhatHasNoSentences) {
  const Shards data({3});
  expect_error(
      [&] {
        SentenceBatches(*data.stream, {100, 100}, 1);
      },
      ErrorKind::kUsage, "too few for batches of 100 x 100");
  const Numbered numbers(100);
  expect_error(
      [&] {
        SentenceBatches(*numbers.stream, {1, 1}, 1);
      },
      ErrorKind::kUsage, "no token that ends one");
}

// A model reads what its embedding and its head need; the batches of a task must be just that.
TEST(Batches, AreFoundByNameInWhatAModelReads) {
  const Numbered data(20);
  StreamBatches batches(*data.stream, {1, 4, 1});
  std::vector<int32_t> tokens(4), targets(4), types(4);
  Batch batch;
  batch.add("targets", {targets.data(), {{4}, DType::kI32}});
  batch.add("tokens", {tokens.data(), {{1, 4}, DType::kI32}});
  batches.fill(0, 0, batches.find(batch));
  EXPECT_EQ(tokens[1], targets[0]);
  EXPECT_NE(tokens, targets);
  batch.add("types", {types.data(), {{1, 4}, DType::kI32}});
  EXPECT_EQ(
      test::message_of([&] { batches.find(batch); }),
      "data: batches consist of tokens, targets, the model reads targets, tokens, types; give the model "
      "another embedding or head, or train it for another task");
  Batch less;
  less.add("tokens", {tokens.data(), {{1, 4}, DType::kI32}});
  EXPECT_THROW(batches.find(less), Error);
}

}  // namespace
}  // namespace heed::data
