#include "heed/train/resuming.h"

#include <algorithm>

#include "heed/base/clock.h"
#include "heed/base/error.h"

namespace heed::train {
namespace {

constexpr double kDiverged = 3;  // nats that the average loss may rise above its lowest

}  // namespace

RunClock::RunClock(int64_t first_step, double save_seconds)
    : first_step_(first_step), save_seconds_(save_seconds), begin_(now_seconds()), saved_(begin_) {}

double RunClock::seconds() const { return now_seconds() - begin_; }

double RunClock::steps_per_second(int64_t steps_made) const {
  return static_cast<double>(steps_made - first_step_) / std::max(1e-9, seconds());
}

bool RunClock::is_time_to_save() const { return now_seconds() - saved_ > save_seconds_; }

void RunClock::saved() { saved_ = now_seconds(); }

store::Tensors tensors_of(const graph::NamedTensors& all, const std::vector<std::string>& names) {
  store::Tensors tensors;
  for (const std::string& name : names) tensors[name] = all.at(name);
  return tensors;
}

std::optional<Resumed> load_latest(const std::filesystem::path& checkpoints, const store::Tensors& parameters,
                                   const store::Tensors& states,
                                   const std::function<void(const std::string&)>& note) {
  const store::LatestCheckpoint latest = store::latest_checkpoint(checkpoints);
  for (const std::string& sentence : latest.notes) note(sentence);
  if (latest.path.empty() && latest.damaged > 0)
    throw damaged_error(checkpoints.string(), ": no checkpoint is complete; restore one, or move the folder ",
                        checkpoints.parent_path().string(), " away to start again");
  if (latest.path.empty()) return std::nullopt;
  Resumed resumed{store::load_checkpoint(latest.path, parameters, states), latest.path};
  const Json step = resumed.progress.value("step", Json(0));
  if (step != latest.step)
    throw damaged_error(latest.path.string(), ": progress.json says step ", step.dump(),
                        "; is it damaged? Move this checkpoint away to resume from the one before");
  return resumed;
}

void LossAverage::add(int64_t index, double loss, const std::string& remedy) {
  average = index == 0 ? loss : 0.95 * average + 0.05 * loss;
  lowest = index == 0 ? loss : std::min(lowest, average);
  if (average > lowest + kDiverged)
    throw diverged_error("training: the loss has risen from ", lowest, " to ", average, " at step ",
                         index + 1, "; the last checkpoint is kept. ", remedy);
}

}  // namespace heed::train
