// The position of a model in its text: keeps caches, cells and memory of graphs that share them in step.
#pragma once

#include "heed/model/model.h"

namespace heed::model {

class Cursor {
 public:
  // `form` is that of one of the graphs; the others may differ in length only. `states` hold theirs.
  Cursor(const Model& model, const GraphForm& form, const graph::NamedTensors& states);

  // The beginning of a text: no memory, cells at 0.
  void restart();
  // Writes the inputs of a program for its next run, which takes form.length tokens. Caches that have no room
  // for them move what is still seen to their front.
  void prepare(const InputSpans& inputs, const GraphForm& form);
  // Advances by this many tokens.
  void advance(int64_t tokens);
  int64_t seen() const { return seen_; }  // tokens since the beginning

 private:
  void make_room();

  GraphForm form_;
  std::vector<Tensor> caches_, cells_;
  int64_t seen_ = 0, row_ = 0;
};

}  // namespace heed::model
