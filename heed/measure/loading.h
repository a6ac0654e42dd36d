// How long it takes until a model can read its first token: graphs are built and planned, weights packed. Its
// file is in memory already.
#pragma once

#include "heed/infer/session.h"
#include "heed/measure/yardstick.h"

namespace heed::measure {

// For a prompt of this length.
Timing time_loading(Yardstick& yardstick, const spec::ModelSpec& spec, int64_t length);

// The same, and the bytes that the process grows by when the session has read a prompt and one more token.
WholeTiming measure_loading(Yardstick& yardstick, const spec::ModelSpec& spec, const infer::Serving& serving);

// Seconds to load a model: for any, for each of its blocks, and for each byte of its weights.
struct LoadPace {
  double fixed = 0, block = 0, byte = 0;
};
// From small models that differ in one of these, timed at the speed that `reference` says (scaled() of
// timing.h; 0: as they are).
LoadPace measure_load_pace(Yardstick& yardstick, double reference);

}  // namespace heed::measure
