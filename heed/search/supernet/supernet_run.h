// A supernet from text to strings: several seeds one after the other, each resumable at any moment, with the
// same result however often it was interrupted.
//
//   config.json, run.json, lock, tokenizer.json   of the whole (store/run_folder.h)
//   settings.json           the search's settings, resolved
//   block_times.json        seconds of each block, with a latency term
//   supernet.json           what all seeds of the folder found: strings, slices, means and spreads
//   probabilities.svg       the mean over the seeds
//   seed-N/                 seed_run.h
#pragma once

#include <filesystem>

#include "heed/search/profiled_costs.h"
#include "heed/search/supernet/seed_run.h"

namespace heed::search {

struct SupernetRequest {
  spec::Recipe recipe;
  SupernetSettings settings;
  int64_t seeds = 1;  // the recipe's and those after it
  std::filesystem::path data, folder;
  std::filesystem::path profile;  // database of the device's profile, for a latency term
  double save_seconds = 120;      // between checkpoints
  Json record = Json::object();
};

struct SupernetReport {
  int64_t seed = 0, nth = 0, seeds = 0;
  int64_t step = 0, steps = 0;
  bool last = false;  // of this seed
  double loss = 0;    // an average over the last iterations
  double temperature = 0;
  std::string by_layer;
  double tokens_per_second = 0, seconds_left = 0;  // of all seeds
};

class SupernetObserver : public train::ResumableObserver {
 public:
  virtual void profiling(const ProfileProgress& progress) = 0;
  virtual void step(const SupernetReport& report) = 0;
};

// Mean and standard deviation over seeds; the latter 0 for one.
struct Spread {
  double mean = 0, deviation = 0;
};
Spread spread_of(const std::vector<double>& values);

struct SupernetResult {
  SupernetSettings settings;      // resolved
  std::vector<SeedResult> seeds;  // all that are done in the folder
  BlockTimes times;               // with a latency term
};
// How often a letter was chosen in each third of the layers.
std::array<Spread, 3> slice_spread(const SupernetResult& result, char letter);

// If interrupted, throws an interrupted Error once everything is saved; the same request resumes.
SupernetResult run_supernet(const SupernetRequest& request, SupernetObserver& observer);

// The folder's supernet.json.
Json to_json(const SupernetResult& result);

}  // namespace heed::search
