// How a supernet is searched (Mandava and others 2020, "Pay attention when required"): which blocks a layer
// may be, when weights and when logits are updated, and the temperature of the choice.
#pragma once

#include <cstdint>
#include <string>

#include "heed/ops/latency_loss.h"

namespace heed {

// When the temperature falls.
enum class Anneal { kIteration, kEpoch };
template <>
struct EnumNames<Anneal> {
  static constexpr std::pair<Anneal, const char*> names[] = {{Anneal::kIteration, "iteration"},
                                                             {Anneal::kEpoch, "epoch"}};
};

}  // namespace heed

namespace heed::search {

// Rates, decays and shares as published; temperatures are FBNet's (Wu and others 2019), since the papers
// give none. FBNet lowers them once per epoch, over 80 epochs: over the ten epochs of a supernet that would
// leave mixtures nearly even, so the default falls per iteration to FBNet's final value.
struct SupernetSettings {
  std::string letters = "sfi";
  int64_t layers = -1;
  int64_t steps = -1;
  int64_t weights_only = -1;
  double theta_share = 0.2;
  int64_t cycle = -1;
  std::string weight_optimizer = "lamb";
  double weight_rate = 1e-2;
  double weight_decay = 1e-4;
  double theta_rate = 1e-2;
  double theta_decay = 5e-4;
  double temperature = 5;
  double final_temperature = 0.137;
  Anneal anneal = Anneal::kIteration;
  double epoch_factor = 0.956;
  double unchanged = 0.75;
  double least_tuning = 0.5;
  LatencyTerm latency_term = LatencyTerm::kNone;
  double alpha = 0.2;
  double beta = 0.6;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("letters", letters, "candidate blocks of a layer; ties go to the first");
    field("layers", layers, "layers; -1: as many as the recipe has blocks");
    field("steps", steps,
          "total iterations; -1: as many as the recipe has updates, after those for weights only");
    field("weights_only", weights_only,
          "first iterations, in which logits do not change; -1: a fifth of all, as published");
    field("theta_share", theta_share, "share of each cycle that updates logits instead of weights");
    field("cycle", cycle,
          "iterations of one cycle of weights and logits; -1: an epoch of the text, or a tenth "
          "of the tuning where it has fewer than five epochs");
    field("weight_optimizer", weight_optimizer, "optimizer of the weights");
    field("weight_rate", weight_rate, "learning rate of the weights; its schedule is the recipe's");
    field("weight_decay", weight_decay, "weight decay");
    field("theta_rate", theta_rate, "learning rate of the logits, by Adam");
    field("theta_decay", theta_decay, "weight decay of the logits");
    field("temperature", temperature, "initial temperature of the Gumbel softmax");
    field("final_temperature", final_temperature, "temperature of the Gumbel softmax at the end");
    field("anneal", anneal,
          "iteration (down to final_temperature) or epoch (by epoch_factor after each cycle)");
    field("epoch_factor", epoch_factor, "factor of annealing by epoch");
    field("unchanged", unchanged,
          "stop early once the architecture has not changed for this share of the tuning; 0: never");
    field("least_tuning", least_tuning, "minimum share of the tuning before it may stop early");
    field("latency_term", latency_term,
          "none, power (loss alpha log(LAT)^beta) or log-power (alpha loss log(LAT^beta)); LAT: a "
          "prompt in microseconds, from this device's profile");
    field("alpha", alpha, "of the latency term");
    field("beta", beta, "of the latency term; larger values make faster models");
  }
};
// Throws an Error that names the first invalid setting.
void validate(const SupernetSettings& settings);

}  // namespace heed::search
