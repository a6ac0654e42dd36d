#include "heed/measure/loading.h"

#include <algorithm>

#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/measure/words.h"

namespace heed::measure {
namespace {

constexpr int64_t kLength = 192;
constexpr Effort kEffort{3, 9, 0.05};

}  // namespace

Timing time_loading(Yardstick& yardstick, const spec::ModelSpec& spec, int64_t length) {
  const model::Source weights = made_up_weights(model::weights_of(spec));
  const auto load = [&] {
    const double begin = now_seconds();
    const infer::Session session(spec, {length, length}, weights);
    return std::vector<double>{now_seconds() - begin};
  };
  load();
  return time_sections(yardstick, load, kEffort)[0];
}

WholeTiming measure_loading(Yardstick& yardstick, const spec::ModelSpec& spec,
                            const infer::Serving& serving) {
  const Timing timing = time_loading(yardstick, spec, serving.chunk);
  std::vector<int32_t> words(static_cast<size_t>(serving.chunk));
  draw_words(words, spec.cluster_ends(), 1);
  const int64_t before = resident_bytes();
  infer::Session session(spec, serving, made_up_weights(model::weights_of(spec)));
  session.feed(words);
  session.feed({words.data(), 1});
  return {timing, resident_bytes() - before};
}

LoadPace measure_load_pace(Yardstick& yardstick, double reference) {
  const auto seconds = [&](const spec::ModelSpec& spec) {
    return scaled(time_loading(yardstick, spec, kLength), reference).median;
  };
  const auto bytes = [](const spec::ModelSpec& spec) {
    return 4 * static_cast<double>(model::count_parameters(spec).total);
  };
  const spec::ModelSpec little = plain_model(1, 64, 128), deep = plain_model(12, 64, 128),
                        wide = plain_model(1, 512, 1024);
  const double of_little = seconds(little), of_deep = seconds(deep), of_wide = seconds(wide);
  LoadPace pace;
  pace.byte = std::max(0.0, (of_wide - of_little) / (bytes(wide) - bytes(little)));
  pace.block = std::max(0.0, (of_deep - of_little - pace.byte * (bytes(deep) - bytes(little))) / 22);
  pace.fixed = std::max(0.0, of_little - 2 * pace.block - pace.byte * bytes(little));
  return pace;
}

}  // namespace heed::measure
