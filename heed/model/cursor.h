// Where in its text a model stands: keeps caches, cells and memory of graphs that share them in step.
#pragma once

#include "heed/model/model.h"

namespace heed::model {

class Cursor {
 public:
  // `use` is that of one of the graphs; the others may differ in length only. `variables` hold the states.
  Cursor(const Model& model, const Use& use, graph::Variables& variables);

  // The beginning of a text: no memory, cells at 0.
  void restart();
  // Writes the inputs of a program for its next run, which takes use.length tokens. Caches that have no room
  // for them move what is still seen to their front.
  void place(graph::Program& program, const Use& use);
  // So many tokens were taken.
  void advance(int64_t tokens);
  int64_t seen() const { return seen_; }  // tokens since the beginning

 private:
  void make_room();

  Use use_;
  std::vector<Tensor> caches_, cells_;
  int64_t seen_ = 0, row_ = 0;
};

}  // namespace heed::model
