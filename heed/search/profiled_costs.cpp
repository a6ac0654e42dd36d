#include "heed/search/profiled_costs.h"

#include <set>

#include "heed/base/clock.h"
#include "heed/base/philox.h"
#include "heed/graph/count.h"
#include "heed/measure/timed_model.h"
#include "heed/spec/arch.h"

namespace heed::search {
namespace {

// Weights of a model that pieces are timed in: more than caches hold, less than devices have.
constexpr int64_t kGroupBytes = 96 << 20;
constexpr size_t kMostBlocks = 48;
// Every piece is timed in rounds apart from each other, among other neighbours each time: a machine is busy
// for seconds on end. A round is at least so many runs, and takes so long.
constexpr int kLeastRuns = 4, kMostRuns = 25;
constexpr double kSeconds = 0.1;

// A model with nothing but these blocks, each with the lists it needs.
spec::ModelSpec model_of_blocks(const spec::Space& space, int64_t width,
                                const std::vector<spec::Layer>& layers, const std::vector<char>& letters) {
  spec::ModelSpec model = space.model_of({{width, 0, 1, 1}, {}});
  model.cutoffs.clear();
  model.tie_projections = {true};
  model.heads.clear(), model.inner.clear(), model.projection.clear();
  for (size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == 's') model.heads.push_back(layers[i].heads);
    if (letters[i] == 'f') model.inner.push_back(layers[i].inner);
    if (letters[i] == 'r' || letters[i] == 'a') model.projection.push_back(layers[i].projection);
  }
  const std::vector<int64_t> one = {1};
  for (auto* list : {&model.heads, &model.inner, &model.projection}) {
    if (list->empty()) *list = one;
  }
  model.arch = spec::format_arch(std::string(letters.begin(), letters.end()));
  return model;
}

std::string block_key(const spec::Space& space, int64_t width, char letter, const spec::Layer& layer) {
  return measure::piece_key(model_of_blocks(space, width, {layer}, {letter}), space.length);
}

std::string frame_key(const spec::Space& space, const spec::Frame& frame) {
  spec::ModelSpec model = space.model_of({frame, {}});
  model.heads = model.inner = model.projection = {1};
  return measure::piece_key(model, space.length);
}

// Something to be timed: a block, or a frame with blocks inside it that are not its own.
struct Piece {
  std::string key;
  int64_t width;
  char letter;        // 0 for a frame
  spec::Layer layer;  // of the block; for a frame, of what stands inside
  spec::Frame frame;
  int64_t bytes;  // of its weights
  double flops;
};

class Profiler {
 public:
  Profiler(const spec::Space& space, measure::DeviceProfile& profile,
           const std::function<void(const ProfileProgress&)>& progress)
      : space_(space), profile_(profile), progress_(progress) {}

  void run() {
    collect();
    report();
    if (profile_.peak_flops() == 0) profile_.save_peak(measure::peak_flops());
    for (size_t round = 0; round < measure::kMostRounds; ++round) {
      Rng rng(round + 1);
      for (const auto& [width, blocks] : blocks_) time_in_groups(unsettled(blocks, round), rng);
      for (const Piece& piece : unsettled(frames_, round)) time_frame(piece);
    }
  }

 private:
  // What has this round before it. Rounds that were not to be expected are more work.
  std::vector<Piece> unsettled(const std::vector<Piece>& pieces, size_t round) {
    std::vector<Piece> some;
    for (const Piece& piece : pieces) {
      const auto& rounds = profile_.rounds(piece.key);
      if (rounds.size() != round || measure::settled(rounds)) continue;
      some.push_back(piece);
      if (round >= measure::kLeastRounds) expect(piece, 1);
    }
    return some;
  }

  // In random order.
  void time_in_groups(std::vector<Piece> pieces, Rng& rng) {
    for (size_t i = pieces.size(); i > 1; --i)
      std::swap(pieces[i - 1], pieces[static_cast<size_t>(rng.below(static_cast<int64_t>(i)))]);
    std::vector<Piece> group;
    int64_t bytes = 0;
    for (const Piece& piece : pieces) {
      if (!group.empty() && (bytes + piece.bytes > kGroupBytes || group.size() == kMostBlocks)) {
        time_blocks(group);
        group.clear(), bytes = 0;
      }
      group.push_back(piece);
      bytes += piece.bytes;
    }
    if (!group.empty()) time_blocks(group);
  }

  // Everything that the space holds, and what of it is left to do.
  void collect() {
    std::set<std::string> seen;
    for (const int64_t width : space_.width) {
      std::vector<Piece>& here = blocks_[width];
      for (const spec::Layer& layer : space_.options(width)) {
        for (const char letter : space_.layer[static_cast<size_t>(layer.kind)]) {
          const std::string key = block_key(space_, width, letter, layer);
          if (letter == 'i' || !seen.insert(key).second) continue;
          const graph::Graph graph = *measure::build_timed(model_of_blocks(space_, width, {layer}, {letter}),
                                                           measure::prompt_use(space_.length));
          here.push_back({key,
                          width,
                          letter,
                          layer,
                          {},
                          graph::plan(graph).memory.weights,
                          graph::count(graph).total.flops});
        }
      }
    }
    for (const spec::Frame& frame : space_.frames()) {
      const std::string key = frame_key(space_, frame);
      const std::vector<spec::Layer> options = space_.options(frame.width);
      if (options.empty() || !seen.insert(key).second) continue;
      // With attention inside, where there is any: it asks for the distances, which count with the frame.
      spec::Layer inside = options.back();
      for (const spec::Layer& option : options) {
        if (option.heads > 0) inside = option;
      }
      const graph::Graph graph =
          *measure::build_timed(space_.model_of({frame, {inside}}), measure::prompt_use(space_.length));
      frames_.push_back({key, frame.width, 0, inside, frame, graph::plan(graph).memory.weights,
                         graph::count(graph).total.flops});
    }
    for (const auto& [width, blocks] : blocks_) {
      for (const Piece& piece : blocks) expect_all(piece);
    }
    for (const Piece& piece : frames_) expect_all(piece);
  }

  void expect_all(const Piece& piece) {
    const size_t done = profile_.rounds(piece.key).size();
    progress_now_.done += done, progress_now_.all += done;
    if (done < measure::kLeastRounds) expect(piece, measure::kLeastRounds - done);
  }

  void expect(const Piece& piece, size_t rounds) {
    progress_now_.all += rounds;
    work_ += static_cast<double>(rounds) * work_of(piece);
  }

  // In nanoseconds, roughly: runs, and making the weights.
  static double work_of(const Piece& piece) {
    return kLeastRuns * piece.flops / 100 + static_cast<double>(piece.bytes);
  }

  // Seconds of each part, run by run.
  std::vector<std::vector<double>> timed(const spec::ModelSpec& spec) const {
    measure::TimedModel model(spec, measure::prompt_use(space_.length));
    std::vector<std::vector<double>> samples(spec.letters().size() + 1);
    model.run();
    const double begin = now_seconds();
    for (int run = 0; run < kLeastRuns || (now_seconds() - begin < kSeconds && run < kMostRuns); ++run) {
      const std::vector<double> parts = model.run_parts();
      for (size_t i = 0; i < parts.size(); ++i) samples[i].push_back(parts[i]);
    }
    return samples;
  }

  void time_blocks(const std::vector<Piece>& group) {
    std::vector<spec::Layer> layers;
    std::vector<char> letters;
    for (const Piece& piece : group) layers.push_back(piece.layer), letters.push_back(piece.letter);
    // A group too small to leave the caches is repeated.
    int64_t bytes = 0;
    for (const Piece& piece : group) bytes += piece.bytes;
    const size_t once = letters.size();
    for (int64_t more = bytes; more < kGroupBytes / 2 && letters.size() + once <= kMostBlocks;
         more += bytes) {
      for (size_t i = 0; i < once; ++i) layers.push_back(layers[i]), letters.push_back(letters[i]);
    }
    const auto samples = timed(model_of_blocks(space_, group[0].width, layers, letters));
    std::map<std::string, measure::Timing> timings;
    for (size_t i = 0; i < once; ++i) {
      std::vector<double> seconds;
      for (size_t at = i; at < letters.size(); at += once)
        seconds.insert(seconds.end(), samples[at + 1].begin(), samples[at + 1].end());
      timings[group[i].key] = measure::summarise(std::move(seconds));
    }
    save(timings, group);
  }

  void time_frame(const Piece& piece) {
    const auto samples = timed(space_.model_of({piece.frame, {piece.layer, piece.layer}}));
    save({{piece.key, measure::summarise(samples[0])}}, {piece});
  }

  void save(const std::map<std::string, measure::Timing>& timings, const std::vector<Piece>& pieces) {
    profile_.add(timings);
    for (const Piece& piece : pieces) worked_ += work_of(piece);
    progress_now_.done += pieces.size();
    report();
  }

  void report() {
    progress_now_.share = work_ > 0 ? worked_ / work_ : 1;
    progress_(progress_now_);
  }

  const spec::Space& space_;
  measure::DeviceProfile& profile_;
  const std::function<void(const ProfileProgress&)>& progress_;
  std::map<int64_t, std::vector<Piece>> blocks_;  // by width
  std::vector<Piece> frames_;
  double work_ = 0, worked_ = 0;
  ProfileProgress progress_now_;
};

}  // namespace

double ProfiledCosts::latency_of(const std::string& key) const {
  const auto timing = profile_.find(key);
  if (!timing) throw failure("the profile of this device lacks ", key, "; `heed device` measures it");
  return timing->median;
}

Cost ProfiledCosts::of_frame(const spec::Frame& frame) {
  const auto [at, is_new] = frames_.try_emplace(frame);
  if (is_new) {
    at->second = GraphCosts::of_frame(frame);
    at->second.latency = latency_of(frame_key(space_, frame));
  }
  return at->second;
}

Cost ProfiledCosts::of_layer(int64_t width, const spec::Layer& layer) {
  const auto [at, is_new] = layers_.try_emplace({width, layer});
  if (is_new) {
    at->second = GraphCosts::of_layer(width, layer);
    for (const char letter : space_.layer[static_cast<size_t>(layer.kind)]) {
      if (letter != 'i') at->second.latency += latency_of(block_key(space_, width, letter, layer));
    }
  }
  return at->second;
}

void fill_profile(const spec::Space& space, measure::DeviceProfile& profile,
                  const std::function<void(const ProfileProgress&)>& progress) {
  Profiler(space, profile, progress).run();
}

}  // namespace heed::search
