#include "heed/measure/session_timing.h"

#include <algorithm>

#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/measure/timed_model.h"
#include "heed/measure/words.h"

namespace heed::measure {

int64_t outliers(const std::vector<double>& values) {
  const double limit = 2 * percentile(values, 0.5);
  return std::count_if(values.begin(), values.end(), [&](double value) { return value > limit; });
}

double SessionSamples::first_token() const { return percentile(load, 0.5) + percentile(prompt, 0.5); }

void sample_session(const spec::ModelSpec& spec, infer::Serving serving, const model::Source* weights,
                    double seconds, int least, SessionSamples& samples) {
  const int64_t length = serving.chunk;
  std::vector<int32_t> words(static_cast<size_t>(length));
  draw_words(words, spec.cluster_ends(), 1);
  const int64_t before = resident_bytes();
  double begin = now_seconds();
  const auto lap = [&](std::vector<double>& into) {
    into.push_back(now_seconds() - begin);
    begin = now_seconds();
  };
  infer::Session session(spec, serving, weights ? *weights : made_up_weights(model::weights_of(spec)));
  lap(samples.load);
  session.feed(words);
  session.feed({words.data(), 1});
  // A model with learned positions reads its text again when it runs out of them: steps stay before that.
  const int64_t most =
      spec.positions == Positions::kLearned ? std::max<int64_t>(0, spec.embedding.context - length) : length;
  const double start = now_seconds();
  for (int run = 0; run < least || now_seconds() - start < seconds; ++run) {
    session.restart();
    begin = now_seconds();
    session.feed(words);
    lap(samples.prompt);
    for (int64_t i = 0; i < std::min<int64_t>(most, 8); ++i) {
      session.feed({words.data() + i % length, 1});
      lap(samples.step);
    }
  }
  samples.resident = std::max(samples.resident, resident_bytes() - before);
}

}  // namespace heed::measure
