#include "heed/search/profiled_costs.h"

#include <algorithm>
#include <set>

#include "heed/base/philox.h"
#include "heed/graph/count.h"
#include "heed/measure/yardstick.h"

namespace heed::search {
namespace {

// Weights of a model that pieces are timed in: more than caches hold, less than devices have.
constexpr int64_t kGroupBytes = 96 << 20;
constexpr size_t kMostBlocks = 48;
// Every piece is timed in separate rounds, with other neighbours each time: a machine may be busy for
// seconds. A round has at least this many runs and takes this long.
constexpr int kLeastRuns = 4, kMostRuns = 25;
constexpr double kSeconds = 0.1;

// The model with these blocks. Sizes that none of them has are 1, so that equal blocks have equal keys.
spec::ModelSpec with_blocks(spec::ModelSpec model, const std::vector<spec::Block>& blocks) {
  for (const spec::Size& size : spec::sizes()) model.sizes[size.name] = {1};
  model.set_blocks(blocks);
  return model;
}

// A model with only these blocks.
spec::ModelSpec model_of_blocks(const spec::Space& space, int64_t width,
                                const std::vector<spec::Block>& blocks) {
  spec::ModelSpec model = with_blocks(space.model_of({{width, 0, 1, 1}, {}}), blocks);
  model.embedding.cutoffs.clear();
  model.head.tie_projections = {true};
  return model;
}

std::string frame_key(const spec::Space& space, const spec::Frame& frame, bool step) {
  return measure::piece_key(with_blocks(space.model_of({frame, {}}), {}), {space.length, step});
}

bool attends_by_position(const std::vector<spec::Block>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [](const spec::Block& block) {
    return block.attention() == spec::Attention::kByPosition;
  });
}

// Something to be timed: a block, or a frame with filler blocks inside it, at a prompt or at a step.
struct TimedPiece {
  std::string key;
  bool step;
  int64_t width;
  spec::Block block;   // if it is a block
  spec::Frame frame;   // if it is a frame
  spec::Layer inside;  // of a frame
  int64_t bytes;       // of its weights
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
      for (const auto& [place, blocks] : blocks_) time_in_groups(unsettled(blocks, round), rng);
      for (const TimedPiece& piece : unsettled(frames_, round)) time_frame(piece);
    }
    if (!profile_.load_pace())
      profile_.save_load_pace(measure::measure_load_pace(yardstick_, profile_.reference()));
  }

 private:
  // The pieces that still need this round. Unexpected extra rounds add to the total work.
  std::vector<TimedPiece> unsettled(const std::vector<TimedPiece>& pieces, size_t round) {
    std::vector<TimedPiece> some;
    for (const TimedPiece& piece : pieces) {
      const auto& rounds = profile_.rounds(piece.key);
      if (rounds.size() != round || measure::settled(rounds)) continue;
      some.push_back(piece);
      if (round >= measure::kLeastRounds) expect(piece, 1);
    }
    return some;
  }

  // In random order.
  void time_in_groups(std::vector<TimedPiece> pieces, Rng& rng) {
    for (size_t i = pieces.size(); i > 1; --i)
      std::swap(pieces[i - 1], pieces[static_cast<size_t>(rng.below(static_cast<int64_t>(i)))]);
    std::vector<TimedPiece> group;
    int64_t bytes = 0;
    for (const TimedPiece& piece : pieces) {
      if (!group.empty() && (bytes + piece.bytes > kGroupBytes || group.size() == kMostBlocks)) {
        time_blocks(group);
        group.clear(), bytes = 0;
      }
      group.push_back(piece);
      bytes += piece.bytes;
    }
    if (!group.empty()) time_blocks(group);
  }

  // All pieces of the space, and those left to time.
  void collect() {
    for (const bool step : {false, true}) collect(step);
    for (const auto& [place, blocks] : blocks_) {
      for (const TimedPiece& piece : blocks) expect_all(piece);
    }
    for (const TimedPiece& piece : frames_) expect_all(piece);
  }

  void collect(bool step) {
    const auto piece = [&](std::string key, const spec::ModelSpec& model) {
      const graph::Graph graph = *measure::build_timed(model, measure::form_of(model, {space_.length, step}));
      return TimedPiece{std::move(key),
                        step,
                        0,
                        {},
                        {},
                        {},
                        graph::plan(graph).memory.weights,
                        graph::count(graph).total.flops};
    };
    std::set<std::string> seen;
    for (const int64_t width : space_.width) {
      for (const spec::Layer& layer : space_.options(width)) {
        for (const spec::Block& block : space_.blocks_of(layer)) {
          const std::string key = block_key(space_, width, block, step);
          if (block.is_identity() || !seen.insert(key).second) continue;
          TimedPiece& added =
              blocks_[{width, step}].emplace_back(piece(key, model_of_blocks(space_, width, {block})));
          added.width = width, added.block = block;
        }
      }
    }
    for (const spec::Frame& frame : space_.frames()) {
      const std::string key = frame_key(space_, frame, step);
      const std::vector<spec::Layer> options = space_.options(frame.width);
      if (options.empty() || !seen.insert(key).second) continue;
      // With attention inside, if the space has any: it needs the distances, which count with the frame.
      spec::Layer inside = options.back();
      for (const spec::Layer& option : options) {
        if (attends_by_position(space_.blocks_of(option))) inside = option;
      }
      TimedPiece& added = frames_.emplace_back(piece(key, space_.model_of({frame, {inside}})));
      added.width = frame.width, added.frame = frame, added.inside = inside;
    }
  }

  void expect_all(const TimedPiece& piece) {
    const size_t done = profile_.rounds(piece.key).size();
    progress_now_.done += done, progress_now_.all += done;
    if (done < measure::kLeastRounds) expect(piece, measure::kLeastRounds - done);
  }

  void expect(const TimedPiece& piece, size_t rounds) {
    progress_now_.all += rounds;
    work_ += static_cast<double>(rounds) * work_of(piece);
  }

  // In nanoseconds, roughly: runs, and making the weights.
  static double work_of(const TimedPiece& piece) {
    return kLeastRuns * piece.flops / 100 + static_cast<double>(piece.bytes);
  }

  // The frame, then each block.
  std::vector<measure::Timing> timed(const spec::ModelSpec& spec, bool step) {
    measure::TimedModel model(spec, measure::Work{space_.length, step});
    model.run();
    return measure::time_sections(yardstick_, [&] { return model.run_sections(); },
                                  {kLeastRuns, kMostRuns, kSeconds});
  }

  void time_blocks(const std::vector<TimedPiece>& group) {
    std::vector<spec::Block> blocks;
    for (const TimedPiece& piece : group) blocks.push_back(piece.block);
    // A group too small to leave the caches is repeated.
    int64_t bytes = 0;
    for (const TimedPiece& piece : group) bytes += piece.bytes;
    const size_t once = blocks.size();
    for (int64_t more = bytes; more < kGroupBytes / 2 && blocks.size() + once <= kMostBlocks; more += bytes) {
      for (size_t i = 0; i < once; ++i) blocks.push_back(blocks[i]);
    }
    const std::vector<measure::Timing> sections =
        timed(model_of_blocks(space_, group[0].width, blocks), group[0].step);
    std::map<std::string, measure::Timing> timings;
    for (size_t i = 0; i < once; ++i) {
      std::vector<measure::Timing> repeated;
      for (size_t at = i; at < blocks.size(); at += once) repeated.push_back(sections[at + 1]);
      timings[group[i].key] = measure::combine(std::move(repeated));
    }
    save(timings, group);
  }

  void time_frame(const TimedPiece& piece) {
    save({{piece.key, timed(space_.model_of({piece.frame, {piece.inside, piece.inside}}), piece.step)[0]}},
         {piece});
  }

  void save(const std::map<std::string, measure::Timing>& timings, const std::vector<TimedPiece>& pieces) {
    profile_.add(timings);
    for (const TimedPiece& piece : pieces) worked_ += work_of(piece);
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
  measure::Yardstick yardstick_;
  std::map<std::pair<int64_t, bool>, std::vector<TimedPiece>> blocks_;  // by width, and whether at a step
  std::vector<TimedPiece> frames_;
  double work_ = 0, worked_ = 0;
  ProfileProgress progress_now_;
};

}  // namespace

std::string block_key(const spec::Space& space, int64_t width, const spec::Block& block, bool step) {
  return measure::piece_key(model_of_blocks(space, width, {block}), {space.length, step});
}

double ProfiledCosts::latency_of(const std::string& key) const {
  const auto timing = profile_.find(key);
  if (!timing) throw usage_error("the profile of this device lacks ", key, "; `heed device` measures it");
  return timing->median;
}

const measure::LoadPace& ProfiledCosts::load_pace() const {
  if (!profile_.load_pace())
    throw usage_error(
        "the profile of this device lacks the time to load a model; `heed device SPACE` measures it");
  return *profile_.load_pace();
}

Cost ProfiledCosts::of_frame(const spec::Frame& frame) {
  const auto [at, is_new] = frames_.try_emplace(frame);
  if (is_new) {
    at->second = GraphCosts::of_frame(frame);
    at->second.latency = latency_of(frame_key(space_, frame, false));
    at->second.step = latency_of(frame_key(space_, frame, true));
    at->second.load = load_pace().fixed +
                      load_pace().byte * static_cast<double>(at->second.resident - beside(frame.vocabulary));
  }
  return at->second;
}

Cost ProfiledCosts::of_layer(int64_t width, const spec::Layer& layer) {
  const auto [at, is_new] = layers_.try_emplace({width, layer});
  if (is_new) {
    at->second = GraphCosts::of_layer(width, layer);
    for (const spec::Block& block : space_.blocks_of(layer)) {
      if (block.is_identity()) continue;
      at->second.latency += latency_of(block_key(space_, width, block, false));
      at->second.step += latency_of(block_key(space_, width, block, true));
      at->second.load += load_pace().block;
    }
    at->second.load += load_pace().byte * static_cast<double>(at->second.resident);
  }
  return at->second;
}

void fill_profile(const spec::Space& space, measure::DeviceProfile& profile,
                  const std::function<void(const ProfileProgress&)>& progress) {
  Profiler(space, profile, progress).run();
}

}  // namespace heed::search
