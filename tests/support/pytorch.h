// Asks PyTorch: cases and numbers go to a script of tests/oracle, which answers all of them at once
// (importing torch takes seconds), in double. The form of the files is described in tests/oracle/cases.py.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "heed/tensor/tensor.h"
#include "tests/support/python.h"

namespace heed::test {

class PyTorch {
 public:
  explicit PyTorch(std::string script);  // such as "letters.py"

  // Hands over a tensor; returns what a case calls it by.
  Json write(const void* data, const TensorType& type);
  // Asks for the answers to all cases, objects with a "name". Throws if the script fails.
  void ask(const Json& cases);

  // Why there are no answers; empty if there are.
  const std::string& missing() const { return missing_; }
  // To the case of this name. Throws, in the words of the script, where it could not answer.
  const Json& answer(const std::string& name) const;
  // The numbers of a tensor that an answer names.
  std::vector<double> read(const Json& at) const;

 private:
  std::string script_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::ofstream numbers_;
  int64_t offset_ = 0;
  std::string missing_ = "nothing was asked";
  std::map<std::string, Json> answers_;
  std::string values_;
};

}  // namespace heed::test
