#include "heed/spec/training_spec.h"

#include <cmath>

namespace heed::spec {
namespace {

template <class Value>
void need(bool right, const char* name, const Value& value, const char* wanted) {
  if (!right) throw usage_error(name, " is ", value, "; it must be ", wanted);
}

bool size(int64_t value) { return value >= 1 && value <= 1 << 24; }
bool finite(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

void validate(const TrainingSpec& spec) {
  need(size(spec.batch), "training: batch", spec.batch, "from 1 to 2^24");
  need(spec.chunks >= 1 && spec.batch % spec.chunks == 0, "training: chunks", spec.chunks,
       "a divisor of the batch");
  need(size(spec.length), "training: length", spec.length, "from 1 to 2^24");
  need(spec.memory == 0 || size(spec.memory), "training: memory", spec.memory, "from 0 to 2^24");
  need(spec.steps >= 1, "training: steps", spec.steps, "at least 1");
  need(finite(spec.learning_rate) && spec.learning_rate > 0, "training: learning_rate", spec.learning_rate,
       "a positive number");
  need(finite(spec.final_rate) && spec.final_rate <= spec.learning_rate, "training: final_rate",
       spec.final_rate, "from 0 to learning_rate");
  need(spec.warmup >= 0, "training: warmup", spec.warmup, "0 or more");
  need(spec.optimizer_settings.is_object(), "training: optimizer_settings", spec.optimizer_settings.dump(),
       "an object such as {\"beta2\": 0.99}");
  need(finite(spec.weight_decay), "training: weight_decay", spec.weight_decay, "0 or more");
  need(finite(spec.clip), "training: clip", spec.clip, "0 or more");
  if (spec.short_segment && !spec.restart_memory)
    throw usage_error(
        "training: short_segment is true and restart_memory false; the padding behind a short segment would "
        "stay in the memory: set one of them differently");
  need(spec.evaluate_every >= -1, "training: evaluate_every", spec.evaluate_every, "-1 or more");
  need(spec.evaluate_tokens >= 0, "training: evaluate_tokens", spec.evaluate_tokens, "0 or more");
  need(spec.patience >= 0, "training: patience", spec.patience, "0 or more");
}

void validate(const EvaluationSpec& spec) {
  need(size(spec.batch), "evaluation: batch", spec.batch, "from 1 to 2^24");
  need(size(spec.length), "evaluation: length", spec.length, "from 1 to 2^24");
  need(spec.memory == 0 || size(spec.memory), "evaluation: memory", spec.memory, "from 0 to 2^24");
  need(spec.clamp >= 0, "evaluation: clamp", spec.clamp, "0 or more");
}

}  // namespace heed::spec
