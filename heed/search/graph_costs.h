// Costs from graphs, counted and planned: parameters, and the memory of a process that serves the model, with
// prompts of the space's length. Nothing runs.
#pragma once

#include <functional>
#include <map>

#include "heed/infer/serving.h"
#include "heed/search/cost.h"

namespace heed::search {

class GraphCosts : public Costs {
 public:
  explicit GraphCosts(const spec::Space& space);

  // Latency is 0.
  Cost of_frame(const spec::Frame& frame) override;
  Cost of_layer(int64_t width, const spec::Layer& layer) override;

  // Of the whole model, planned as one.
  Cost planned(const spec::Candidate& candidate) const;
  Cost planned(const spec::ModelSpec& model) const;
  // Memory of the process that does not belong to the model: the tokenizer and heed itself. It counts with
  // the frame.
  int64_t beside(int64_t vocabulary) const;
  const infer::Serving& serving() const { return serving_; }

 private:
  // Layers between the smallest possible ends, and those ends alone.
  spec::ModelSpec between_small_ends(int64_t width, const std::vector<spec::Layer>& layers) const;
  Cost of_model(const spec::ModelSpec& model) const;

  const spec::Space& space_;
  infer::Serving serving_;
  std::map<spec::Frame, Cost> frames_;
  std::map<std::pair<int64_t, spec::Layer>, Cost> layers_;
  std::map<int64_t, Cost> small_ends_;
};

}  // namespace heed::search
