// A tensor is a view: a pointer to numbers, their type and shape. It owns nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "heed/base/error.h"
#include "heed/tensor/dtype.h"
#include "heed/tensor/shape.h"

namespace heed {

// The type and shape of a tensor, without memory.
struct TensorType {
  Shape shape;
  DType dtype = DType::kF32;

  TensorType() = default;
  TensorType(const Shape& s, DType d = DType::kF32) : shape(s), dtype(d) {}
  TensorType(std::initializer_list<int64_t> dims) : shape(dims) {}

  int64_t bytes() const { return shape.elements() * size_of(dtype); }
  bool operator==(const TensorType&) const = default;
  std::string str() const { return std::string(name_of(dtype)) + shape.str(); }
};

struct Tensor {
  void* data = nullptr;
  TensorType type;

  explicit operator bool() const { return data != nullptr; }
  const Shape& shape() const { return type.shape; }
  float* f32() const { return typed<float>(DType::kF32); }
  int32_t* i32() const { return typed<int32_t>(DType::kI32); }
  // For optional inputs: null if the tensor is absent.
  float* f32_or_null() const { return data ? f32() : nullptr; }
  int32_t* i32_or_null() const { return data ? i32() : nullptr; }
  std::span<float> floats() const { return {f32(), static_cast<size_t>(type.shape.elements())}; }
  std::span<int32_t> ints() const { return {i32(), static_cast<size_t>(type.shape.elements())}; }

 private:
  template <class T>
  T* typed(DType wanted) const {
    HEED_ASSERT(type.dtype == wanted);
    return static_cast<T*>(data);
  }
};

}  // namespace heed
