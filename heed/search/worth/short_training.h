// The training of many small models on one text: several at once, each on its own thread, each a run that
// resumes.
#pragma once

#include <filesystem>

#include "heed/search/worth/moment.h"
#include "heed/spec/space.h"
#include "heed/train/run.h"

namespace heed::search {

// The training shortened or lengthened to this many tokens: whole updates, at least one, and a warm-up of a
// tenth of them at most.
spec::TrainingSpec for_tokens(spec::TrainingSpec training, int64_t tokens);
int64_t tokens_per_update(const spec::TrainingSpec& training);
int64_t tokens_of(const spec::TrainingSpec& training);

// Learns the vocabulary of a recipe, if it is not in the folder yet, and makes the tokens of the text in it,
// for all runs in the folder. Throws if the text is too short for the vocabulary.
train::SharedText share_text(const spec::Recipe& recipe, const std::filesystem::path& data,
                             const std::filesystem::path& folder);

// The tokens of the part to train on, in the vocabulary that makes most of it. Vocabularies and tokens are
// shared as by share_text.
int64_t tokens_to_train_on(const spec::Space& space, const std::filesystem::path& data,
                           const std::filesystem::path& folder);

// Throws if the held-out part of the text has so many words which the vocabulary of the recipe lacks that
// losses per byte would not compare. Vocabularies and tokens are shared as by share_text.
void check_comparable(const spec::Recipe& recipe, const std::filesystem::path& data,
                      const std::filesystem::path& folder);

// Removes the vocabularies from the space that the text is too short for, or whose losses per byte would not
// compare; `note` is told. Throws if none is left, or if there is no such text.
void leave_out_vocabularies(spec::Space& space, const std::filesystem::path& data,
                            const std::filesystem::path& folder,
                            const std::function<void(const std::string&)>& note);

// The operations to train a model with this many parameters on this many tokens.
double training_flops(int64_t total, int64_t tokens);

// A model to train, or trained.
struct ShortTraining {
  std::string name;  // of its folder
  spec::Recipe recipe;
  double work = 0;                   // relative to the others, for the ETA
  int64_t stop_after = 0;            // updates; 0 for all of the recipe's
  std::vector<Moment> moments = {};  // none if it diverged
  data::TextCounts text = {};        // the valid part
  double seconds = 0;                // of one thread
};

struct ShortTrainingProgress {
  size_t done = 0, all = 0;  // models
  double share = 0;          // of the work
};

class ShortTrainingObserver : public train::ResumableObserver {
 public:
  virtual void training(const ShortTrainingProgress& progress) = 0;
};

// Trains every model in a folder of its name in `folder`, and fills in its moments and seconds. Tokens of the
// text and vocabularies are shared by all. `wants` says before each whether it is still wanted, given those
// done; what is not is left without moments. `finished` is called after each that was trained, with no other
// call meanwhile. Throws an interrupted Error when stopped.
void train_shortly(std::vector<ShortTraining>& models, const std::filesystem::path& data,
                   const std::filesystem::path& folder, const Json& record,
                   const std::function<bool(const ShortTraining& next)>& wants,
                   ShortTrainingObserver& observer, const std::function<void()>& finished = {});

}  // namespace heed::search
