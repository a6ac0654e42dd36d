// The SRU recurrence (Lei and others, "Simple Recurrent Units for Highly Parallelizable Recurrence", 2018;
// SRU++, 2021):
//   f_t = sigmoid(U1_t + vf c_{t-1} + bf)       r_t = sigmoid(U2_t + vr c_{t-1} + br)
//   c_t = U0_t + (c_{t-1} - U0_t) f_t           h_t = X_t + (g(c_t) - X_t) mask r_t
// independently for every batch row and hidden unit, serially in time. X_t is rescale * x_t, U3_t or 0.
#pragma once

#include <cstdint>

#include "heed/kernels/isa.h"

namespace heed::kernels {

struct SruInputs {
  int64_t batch, steps, width;  // B, T, D
  int64_t slots;                // 3, or 4 where the skip X is the fourth slot of u
  bool tanh;                    // g: tanh or identity
  bool bidirectional;           // the second half of the units runs from the last step to the first
  float rescale;                // of x
  const float* u;               // [B, T, slots * D], slots side by side: candidate, forget, reset, skip
  const float* x;               // [B, T, D], or null
  const float* v;               // [2 * D]: vf, vr
  const float* bias;            // [2 * D]: bf, br
  const float* c0;              // [B, D], or null: zeros
  const float* mask;            // [B, D], or null: ones
  const int32_t* padding;       // [B, T], not 0 where a step is padding (c stays, h is 0), or null
};

struct SruForward {
  SruInputs in;
  float* h;       // [B, T, D]; may be x
  float* c_last;  // [B, D]; may be c0. A backward half has its last state at step 0
  float* c;       // [B, T, D]: the state after each step, or null
};
HEED_KERNEL(sru, SruForward)

// Gates are recomputed from u and c: storing them would cost two more writes and save no reads.
struct SruBackward {
  SruInputs in;
  const float* c;
  const float* dh;       // [B, T, D], or null: zeros
  const float* dc_last;  // [B, D], or null: zeros
  float* du;             // as u; may be u
  float* dx;             // null where x is; may be x or dh
  float* dv;
  float* dbias;
  float* dc0;      // may be dc_last
  float* partial;  // sru_partials(B, D) floats
};
HEED_KERNEL(sru_backward, SruBackward)

// dv and dbias are summed over time per batch row, then over batch rows in order: same bytes for any number
// of threads.
inline int64_t sru_partials(int64_t batch, int64_t width) { return batch * 4 * width; }

}  // namespace heed::kernels
