#include "heed/graph/op.h"

#include "heed/base/error.h"

namespace heed::graph {

int64_t Signature::bytes() const {
  int64_t total = 0;
  for (const auto& input : inputs) total += input ? input->bytes() : 0;
  for (const auto& output : outputs) total += output.bytes();
  return total;
}

void Op::gradient(Gradients&) const { throw usage_error(kind(), ": this op has no gradient"); }

ValueId Op::recompute(Graph&, int, size_t) const { return kNone; }

void expect(bool condition, const std::string& complaint) {
  if (!condition) throw usage_error(complaint);
}

void expect_inputs(const Signature& signature, size_t least, size_t most) {
  expect(signature.inputs.size() >= least && signature.inputs.size() <= most,
         text("takes ", least, least == most ? "" : text(" to ", most), " inputs, ", signature.inputs.size(),
              " given"));
  for (size_t i = 0; i < least; ++i) expect(signature.has(i), text("input ", i, " is missing"));
}

void expect_rank(const Signature& signature, size_t input, int rank, const char* meaning) {
  expect(signature.in(input).rank() == rank, text(meaning, " (input ", input, ") needs ", rank,
                                                  " dimensions, it is ", signature.in(input).str()));
}

void expect_dtype(const Signature& signature, size_t input, DType dtype, const char* meaning) {
  expect(signature.inputs[input]->dtype == dtype,
         text(meaning, " (input ", input, ") needs type ", name_of(dtype), ", it is ",
              signature.inputs[input]->str()));
}

void expect_floats(const Signature& signature) {
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.has(i)) expect_dtype(signature, i, DType::kF32, "each value");
  }
}

void expect_shape(const Signature& signature, size_t input, const Shape& shape, const char* meaning) {
  expect(signature.in(input) == shape, text(meaning, " (input ", input, ") needs shape ", shape.str(),
                                            ", it is ", signature.in(input).str()));
}

void expect_type(const Signature& signature, size_t input, DType dtype, const Shape& shape,
                 const char* meaning) {
  expect_dtype(signature, input, dtype, meaning);
  expect_shape(signature, input, shape, meaning);
}

}  // namespace heed::graph
