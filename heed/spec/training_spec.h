// How a model is trained and how it is evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "heed/base/fields.h"

namespace heed {

// Where the decay of a learning rate is counted from. Published code disagrees: from the end of the warm-up;
// from step 0, whatever the warm-up; or as a schedule that continues from the last rate of the warm-up.
enum class DecayFrom { kWarmup, kStart, kChained };
template <>
struct EnumNames<DecayFrom> {
  static constexpr std::pair<DecayFrom, const char*> names[] = {
      {DecayFrom::kWarmup, "warmup"}, {DecayFrom::kStart, "start"}, {DecayFrom::kChained, "chained"}};
};

// Which keys a query sees in evaluation: all; as many as the memory is long, counted as in NVIDIA's
// Transformer-XL or as in the authors' code; itself and exactly the memory before it (SRU++).
enum class Visible { kAll, kSameLength, kSameLengthOriginal, kBand };
template <>
struct EnumNames<Visible> {
  static constexpr std::pair<Visible, const char*> names[] = {
      {Visible::kAll, "all"},
      {Visible::kSameLength, "same-length"},
      {Visible::kSameLengthOriginal, "same-length-original"},
      {Visible::kBand, "band"}};
};

}  // namespace heed

namespace heed::spec {

struct TrainingSpec {
  std::string task = "next-token";
  int64_t batch = 8;
  int64_t chunks = 1;
  int64_t length = 128;
  int64_t memory = 0;
  int64_t steps = 200;
  std::string optimizer = "adamw";
  Json optimizer_settings = Json::object();
  std::string schedule = "cosine";
  double learning_rate = 1e-3;
  double final_rate = 0;
  int64_t warmup = 0;
  bool warmup_from_zero = false;
  bool late_rate = false;
  DecayFrom decay_from = DecayFrom::kWarmup;
  double weight_decay = 0;
  bool decay_all = true;
  double clip = 0;
  bool roll = false;
  bool short_segment = false;
  bool restart_memory = true;
  int64_t seed = 1;
  int64_t evaluate_every = -1;
  int64_t evaluate_tokens = 0;
  int64_t patience = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("task", task, "training objective");
    field("batch", batch, "sequences per step B");
    field("chunks", chunks,
          "micro-batches of an update, run one after the other (gradient accumulation), each with its own "
          "memory");
    field("length", length, "tokens per sequence T");
    field("memory", memory, "memory length M: tokens of earlier segments that attention can see");
    field("steps", steps, "number of steps (updates of the weights)");
    field("optimizer", optimizer, "optimizer that updates the weights");
    field("optimizer_settings", optimizer_settings,
          "settings of the optimizer that differ from its defaults");
    field("schedule", schedule, "how the learning rate changes after the warm-up");
    field("learning_rate", learning_rate, "peak learning rate, after the warm-up");
    field("final_rate", final_rate, "learning rate at the end of the schedule");
    field("warmup", warmup, "number of warm-up steps, in which the learning rate grows to its peak");
    field("warmup_from_zero", warmup_from_zero, "start the warm-up at a learning rate of 0");
    field("late_rate", late_rate,
          "set the learning rate after each step instead of before it: the first step uses the peak rate");
    field("decay_from", decay_from, "where the decay is counted from: warmup, start or chained");
    field("weight_decay", weight_decay, "weight decay");
    field("decay_all", decay_all, "apply weight decay to norms and biases too");
    field("clip", clip, "clip gradients to this total norm; 0: no clipping");
    field("roll", roll, "rotate every stream by a random offset in each epoch");
    field("short_segment", short_segment,
          "keep the last, shorter segment of each epoch instead of dropping it");
    field("restart_memory", restart_memory, "start each epoch with an empty memory");
    field("seed", seed, "seed of the initial weights, dropout and the order of the data");
    field("evaluate_every", evaluate_every,
          "steps between evaluations; 0: only at the end, -1: chosen by the length of the run");
    field("evaluate_tokens", evaluate_tokens, "maximum validation tokens per evaluation; 0: all");
    field("patience", patience, "stop early after this many evaluations without improvement; 0: never");
  }
};

struct EvaluationSpec {
  int64_t batch = 1;
  int64_t length = 128;
  int64_t memory = 0;
  int64_t clamp = 0;
  Visible visible = Visible::kAll;
  bool warm_up = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("batch", batch, "streams the text is split into (batch size)");
    field("length", length, "tokens scored per forward pass T");
    field("memory", memory, "memory length M: earlier tokens that attention can see");
    field("clamp", clamp, "clamp relative distances to this maximum; 0: no limit");
    field("visible", visible, "keys that a token attends to: all, same-length, same-length-original or band");
    field("warm_up", warm_up,
          "fill the memory from the end of the previous stream, so that all tokens have context");
  }
};

// Throws an Error that names the first invalid setting.
void validate(const TrainingSpec& spec);
void validate(const EvaluationSpec& spec);

}  // namespace heed::spec
