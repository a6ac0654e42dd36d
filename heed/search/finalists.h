// The last step of a search that has a text: the most promising and most different models within the limits
// are trained, and the best of them is recommended by what it reached.
#pragma once

#include "heed/search/search_run.h"
#include "heed/search/worth/short_training.h"
#include "heed/search/worth/valuation.h"

namespace heed::search {

// Where they are trained, in the folder of a search.
std::filesystem::path finalists_folder(const std::filesystem::path& search);

// Candidates within the limits: the best of each width and vocabulary, the best without each kind of layer,
// and the best with one kind only; the most promising first, at most `count`. `problem` must be scored by a
// law.
std::vector<Evaluated> promising(const SearchProblem& problem, size_t count);

// The time that is spent on finalists if nothing else is asked for: a quarter of that for the training of the
// model, `seconds`, but 5 to 10 minutes.
double usual_finalists(double seconds);
// The time to fit a law to the text: as long, but at most 15 minutes; 0, if a quarter of the training is too
// little for that.
double usual_fit(double seconds);

// How fast some models train, each on one thread: mean seconds for an update, and for what a model does
// besides in each round (reading, evaluating, saving).
struct TrainingPace {
  double update = 0, start = 0;
  size_t at_once = 1;
};

// Successive halving: every round has the same time; after each the better half goes on. Time that is left at
// the end goes to those that were stopped.
struct Halving {
  size_t models = 0;
  int64_t rounds() const;
};
// As many of the candidates as can be trained for long enough in the first round. `budget`: seconds.
Halving plan_halving(size_t candidates, int64_t steps, const TrainingPace& pace, double budget);
// The update after which the next round stops, with `left` models that are at update `reached`. `rounds`:
// left with this one; `budget`: what is left.
int64_t next_stop(size_t left, int64_t rounds, int64_t reached, int64_t steps, const TrainingPace& pace,
                  double budget);

// Trains the models of the result among `candidates` in folder/finalists, fills in what they reached, and
// recommends the best. The first is the most promising. `peak`: operations per second of this device.
void train_finalists(const SearchRequest& request, const std::vector<Evaluated>& candidates, double peak,
                     ShortTrainingObserver& observer, SearchResult& result);

// If `recipe_file` is the pick or another model of a search that began to train it with this recipe on this
// text, and there is no folder `run` yet, that training becomes the run: true. Nothing is changed in the
// search.
bool continue_finalist(const std::filesystem::path& recipe_file, const spec::Recipe& recipe,
                       const std::filesystem::path& data, const std::filesystem::path& run);

}  // namespace heed::search
