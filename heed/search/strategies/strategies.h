// How a space is searched. A strategy only proposes and observes; what it costs, limits, records and resuming
// are the driver's. A new strategy is one file and one line in strategies.cpp.
#pragma once

#include <functional>
#include <memory>

#include "heed/base/registry.h"
#include "heed/search/front.h"

namespace heed::search {

struct SearchSettings {
  int64_t seed = 1111;
  int64_t population = 100;
  int64_t parents = 20;
  int64_t mutants = 40;
  int64_t crossovers = 40;
  double mutation = 0.3;
  double crossover = 0.5;
  int64_t iterations = 30;
  FrontRule front = FrontRule::kNonDominated;
  int64_t samples = 10000;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("seed", seed, "of everything drawn");
    field("population", population, "evolution: models in the first generation");
    field("parents", parents, "evolution: drawn from the frontier for each generation");
    field("mutants", mutants, "evolution: children of one parent in each generation");
    field("crossovers", crossovers, "evolution: children of two parents in each generation");
    field("mutation", mutation, "evolution: probability that a gene of a mutant is drawn anew");
    field("crossover", crossover, "evolution: probability that a gene comes from the first parent");
    field("iterations", iterations, "evolution: generations");
    field("front", front, "evolution: which models parents are drawn from: non-dominated, strict or hull");
    field("samples", samples, "random: models to draw");
  }
};
void validate(const SearchSettings& settings);

// What a strategy may ask.
struct Question {
  const spec::Space& space;
  Limits limits;
  SearchSettings settings;
  Costs& costs;
  // To be told now and then how much of a long proposal is done, from 0 to 1; may throw to end it.
  std::function<void(double share)> tick;
  // The proxy, from decoder and total parameters; rises with the decoder where the frame is the same.
  std::function<double(const spec::Frame&, int64_t decoder, int64_t total)> score;
  // Inside the limits and the space's window of parameters.
  std::function<bool(const spec::Candidate&)> admits;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Candidates to evaluate next; none when the search is over.
  virtual std::vector<spec::Candidate> propose() = 0;
  virtual void observe(std::span<const Evaluated> evaluated) = 0;
};

struct StrategyEntry {
  std::string name;
  std::string meaning;
  // Null: it takes a recipe and a text instead of a space (search/supernet).
  std::unique_ptr<Strategy> (*make)(const Question& question);
};
const Registry<StrategyEntry>& strategies();

}  // namespace heed::search
