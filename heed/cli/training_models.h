// Progress of verbs that train many models.
#pragma once

#include "heed/cli/terminal_observer.h"
#include "heed/search/worth/short_training.h"

namespace heed::cli {

class TrainingModels : public TerminalObserver<search::ShortTrainingObserver> {
 public:
  void training(const search::ShortTrainingProgress& p) override {
    if (p.done < p.all) line_.count("training models", p.done, p.all, "models", p.share);
  }
};

}  // namespace heed::cli
