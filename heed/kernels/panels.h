// Products with weights that never change: y = activation(x W + bias) + residual, W packed once.
//
// A packed weight [in, out] is cut into panels of kPanelWidth columns, each stored [in, kPanelWidth]; the
// last is padded with zeros. A tile of rows times a panel then reads memory strictly forwards. dnnl_sgemm
// packs W again in every call, which at 200 rows is 5 to 10% of the product; oneDNN's own packed primitives
// are as fast as this, but need an object per number of rows and differ between its versions
// (bench/gemm_bench.cpp).
#pragma once

#include <cstdint>

#include "heed/kernels/activation.h"
#include "heed/kernels/isa.h"

namespace heed::kernels {

inline constexpr int64_t kPanelWidth = 64;
static inline int64_t panel_count(int64_t out) { return (out + kPanelWidth - 1) / kPanelWidth; }

// panels: [panel_count(out), in, kPanelWidth]
struct PackPanels {
  int64_t in, out;
  const float* weight;  // [in, out], or [out, in] if transposed
  bool transposed;
  float* panels;
  // `weight` holds only so many rows, from this one on; 0: all of them. If transposed, `first` is a multiple
  // of kPanelWidth, and so is `rows` unless they are the last.
  int64_t first = 0, rows = 0;
};
HEED_KERNEL(pack_panels, PackPanels)

struct PanelProduct {
  int64_t rows, in, out;
  const float* x;  // [rows, in]
  const float* panels;
  Activation activation;
  const float* bias;      // [out] or null
  const float* residual;  // [rows, out] or null; may be y
  float* y;               // [rows, out]
};
HEED_KERNEL(panel_product, PanelProduct)

// y[i] = scale * column ids[i] of the packed weight + positions[i % T]: looks words up in a table that is
// packed for the output.
struct PanelColumns {
  int64_t count, in;
  const int32_t* ids;
  const float* panels;
  float scale;
  const float* positions;  // [T, in] or null
  int64_t T;
  float* y;  // [count, in]
};
HEED_KERNEL(panel_columns, PanelColumns)

}  // namespace heed::kernels
