// Files of a run that were cut off, filled with zeros, or have one bit turned.
#include <span>

#include "heed/base/philox.h"
#include "tests/faults/support.h"

namespace heed::test {
namespace {

namespace fs = std::filesystem;

struct Damage {
  const char* name;
  std::string (*to)(std::string content, Rng& rng);
};
const Damage kDamages[] = {
    {"empty", [](std::string, Rng&) { return std::string(); }},
    {"cut off",
     [](std::string all, Rng& rng) {
       return all.substr(0, static_cast<size_t>(rng.below(static_cast<int64_t>(all.size()))));
     }},
    {"zeros", [](std::string all, Rng&) { return std::string(all.size(), '\0'); }},
    {"zeros at the end",
     [](std::string all, Rng& rng) {
       for (auto at = static_cast<size_t>(rng.below(static_cast<int64_t>(all.size()) - 1)); at < all.size();
            ++at)
         all[at] = '\0';
       return all;
     }},
    {"a bit",
     [](std::string all, Rng& rng) {
       all[static_cast<size_t>(rng.below(static_cast<int64_t>(all.size())))] ^=
           static_cast<char>(1 << rng.below(8));
       return all;
     }},
};

class Damaged : public Faults {
 protected:
  // Each damage in turn to a copy of a finished run; what then happens is for `then` to judge.
  template <class Then>
  void for_each_damage(const std::string& run, const std::string& hurt, int turns, const Then& then,
                       std::span<const Damage> damages = kDamages) const {
    Rng rng(7);
    for (const Damage& damage : damages) {
      for (int turn = 0; turn < turns; ++turn) {
        fs::remove_all(path("hurt"));
        fs::copy(path(run), path("hurt"), fs::copy_options::recursive);
        const std::string before = content(path("hurt/" + hurt));
        ASSERT_FALSE(before.empty()) << hurt;
        const std::string after = damage.to(before, rng);
        if (after == before) continue;
        file("hurt/" + hurt, after);
        SCOPED_TRACE(heed::text(hurt, ": ", damage.name, ", turn ", turn));
        then();
      }
    }
  }
};

// The newest checkpoint: the one before is taken, and the end is the same. Never is it believed.
TEST_F(Damaged, Checkpoint) {
  do_whole(Work::kTrain);
  for (const char* name : {"model.safetensors", "state.safetensors", "progress.json"}) {
    const std::string hurt = std::string("checkpoints/step-00000060/") + name;
    for_each_damage(
        whole(Work::kTrain), hurt, rounds(1),
        [&] {
          const Outcome outcome = heed(command(Work::kTrain, "hurt"));
          if (outcome.code != 0) return expect_told(outcome, outcome.code, {"damaged"});
          EXPECT_TRUE(contains(outcome, "step-00000060: skipped, it is damaged")) << outcome.output;
          expect_same_end(Work::kTrain, "hurt");
        },
        std::span(kDamages).last(name == std::string("model.safetensors") ? 3 : 1));
  }
}

TEST_F(Damaged, CheckpointOfASupernet) {
  do_whole(Work::kSupernet);
  fs::remove(path(whole(Work::kSupernet) + "/seed-1/result.json"));
  for_each_damage(
      whole(Work::kSupernet), "seed-1/checkpoints/step-00000040/model.safetensors", 1,
      [&] {
        const Outcome outcome = heed(command(Work::kSupernet, "hurt"));
        EXPECT_EQ(outcome.code, 0) << outcome.output;
        EXPECT_TRUE(contains(outcome, "step-00000040: skipped, it is damaged")) << outcome.output;
        expect_same_end(Work::kSupernet, "hurt");
      },
      std::span(kDamages).last(2));
}

TEST_F(Damaged, Model) {
  do_whole(Work::kTrain);
  const std::string run = path("hurt");
  for_each_damage(whole(Work::kTrain), "model/model.safetensors", rounds(2), [&] {
    for (const std::string& verb :
         {"eval " + run + " --threads 1 --data " + text(), "generate " + run + " -n 5 --threads 1"})
      expect_told(heed(verb), 1, {"model.safetensors"});
  });
  for (const char* name : {"model/config.json", "model/tokenizer.json"}) {
    const std::string eval = "eval " + path("hurt") + " --max-tokens 200 --threads 1 --data " + text();
    for_each_damage(whole(Work::kTrain), name, 1, [&] {
      const Outcome outcome = heed(eval);
      // One bit may well be another setting that makes sense, or a letter of a name: then it is unknown (2).
      if (outcome.code != 0) expect_told(outcome, outcome.code == 2 ? 2 : 1, {path("hurt")});
    });
  }
}

TEST_F(Damaged, Tokens) {
  do_whole(Work::kRank);
  std::vector<std::string> caches;
  for (const auto& entry : fs::directory_iterator(path(whole(Work::kRank) + "/cache")))
    caches.push_back("cache/" + entry.path().filename().string());
  ASSERT_GE(caches.size(), 2u);
  for (const std::string& cache : caches) {
    for_each_damage(whole(Work::kRank), cache, rounds(1), [&] {
      for (const char* rest : {"hurt/m001/checkpoints", "hurt/m001/model"}) fs::remove_all(path(rest));
      const Outcome outcome = heed(command(Work::kRank, "hurt"));
      EXPECT_EQ(outcome.code, 0) << outcome.output;
      expect_same_end(Work::kRank, "hurt");
    });
  }
}

TEST_F(Damaged, Records) {
  do_whole(Work::kSearch);
  int noticed = 0;
  for_each_damage(whole(Work::kSearch), "heed.db", rounds(3), [&] {
    const Outcome outcome = heed(command(Work::kSearch, "hurt"));
    if (outcome.code != 0) {
      ++noticed;
      expect_told(outcome, 1, {"heed.db", "move it away to start a new one"});
      for (const char* end : {"heed.db", "heed.db-wal", "heed.db-shm"}) fs::remove(path("hurt/") + end);
      EXPECT_EQ(heed(command(Work::kSearch, "hurt")).code, 0);
    }
    EXPECT_EQ(content(path("hurt/frontier.csv")), content(path(whole(Work::kSearch) + "/frontier.csv")));
  });
  EXPECT_GE(noticed, 5);
}

// The rest of a run: settings, record, vocabulary, metrics, results of seeds.
TEST_F(Damaged, Descriptions) {
  const std::pair<Work, const char*> files[] = {{Work::kRank, "m001/config.json"},
                                                {Work::kRank, "m001/run.json"},
                                                {Work::kRank, "m001/tokenizer.json"},
                                                {Work::kRank, "m001/metrics.jsonl"},
                                                {Work::kSupernet, "seed-1/result.json"}};
  do_whole(Work::kRank);
  do_whole(Work::kSupernet);
  for (const auto& [work, name] : files) {
    for_each_damage(whole(work), name, rounds(1), [&, work = work] {
      const Outcome outcome = heed(command(work, "hurt"));
      if (outcome.code == 0) return;
      EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.output;
      expect_told(outcome, outcome.code, {path("hurt")});
    });
  }
}

// A page of damaged runs says what is damaged.
TEST_F(Damaged, ReportOfIt) {
  do_whole(Work::kTrain);
  for (const char* name : {"config.json", "run.json", "metrics.jsonl", "samples.jsonl"}) {
    for_each_damage(whole(Work::kTrain), name, 1, [&] {
      const Outcome outcome = heed("report " + path("hurt") + " -o " + path("r.html"));
      EXPECT_EQ(outcome.code, 0) << outcome.output;
    });
  }
  do_whole(Work::kSearch);
  for_each_damage(whole(Work::kSearch), "heed.db", 2, [&] {
    const Outcome outcome = heed("report " + path("hurt") + " -o " + path("r.html"));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
  });
}

}  // namespace
}  // namespace heed::test
