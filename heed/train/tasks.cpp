#include "heed/train/tasks.h"

namespace heed::train {

// The list of tasks. A new one adds one line.
const Registry<Task>& tasks() {
  static const Registry<Task> list("task", {next_token_task()});
  return list;
}

const Task& task_of(const spec::ModelSpec& model, const spec::TrainingSpec& training) {
  const Task& task = tasks().find(training.task);
  if (model.head.kind != task.head)
    throw usage_error("training: the task ", task.name, " trains the head ", task.head, ", the model has ",
                      model.head.kind, "; give the model's head or another task");
  return task;
}

}  // namespace heed::train
