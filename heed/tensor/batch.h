// A batch: what a model reads in one run, by name, such as "tokens" and "targets". The model that was built
// says which names there are (model::Model::batch); whatever fills them finds each once per program, not per
// run.
#pragma once

#include <map>
#include <string>

#include "heed/tensor/tensor.h"

namespace heed {

class Batch {
 public:
  void add(const std::string& name, const Tensor& tensor) { tensors_.emplace(name, tensor); }
  const std::map<std::string, Tensor>& all() const { return tensors_; }
  // Empty if the model reads nothing of that name.
  std::span<int32_t> ints(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::span<int32_t>() : found->second.ints();
  }

 private:
  std::map<std::string, Tensor> tensors_;
};

}  // namespace heed
