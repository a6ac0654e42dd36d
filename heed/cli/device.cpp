#include "heed/cli/device.h"

#include <cstdio>
#include <map>

#include "heed/base/units.h"
#include "heed/cli/genes_flag.h"
#include "heed/cli/progress_line.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/user_profile.h"
#include "heed/search/profile_check.h"
#include "heed/spec/arch.h"
#include "heed/train/resuming.h"

namespace heed::cli {
namespace {

class DeviceVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("space", space_, "space to measure blocks for; without it, the profile is shown", false);
    declare_genes(flags, genes_);
    flags.path("profile", profile_, "database of this device's profile; default: one per user");
    flags.option("check", check_,
                 "measure this many random models as a whole and compare each with the sum of its pieces");
    flags.flag("json", json_, "print JSON");
  }

  void run() override {
    if (check_ > 0 && space_.empty()) throw usage_error("device: --check needs a space to draw models from");
    const measure::Device device = measure::this_device();
    const store::Database database(profile_path(profile_));
    measure::DeviceProfile profile(database, device);
    Json json = {{"device", to_json(device)}};
    if (!space_.empty()) {
      const spec::Space space = spec::load_space(space_, genes_);
      const StopSignals signals;
      fill(space, profile);
      if (check_ > 0) json["check"] = check(space, profile);
    }
    json_ ? print_json(json, profile) : print(device, profile);
  }

 private:
  static void stop_if_asked() {
    if (StopSignals::asked()) throw train::interrupted_run();
  }

  static void fill(const spec::Space& space, measure::DeviceProfile& profile) {
    ProgressLine line;
    search::fill_profile(space, profile, [&](const search::ProfileProgress& p) {
      line.count("profiling this device", p.done, p.all, "timings", p.share);
      stop_if_asked();
    });
  }

  Json check(const spec::Space& space, const measure::DeviceProfile& profile) const {
    return {{"prompt", check(space, profile, false)}, {"step", check(space, profile, true)}};
  }

  Json check(const spec::Space& space, const measure::DeviceProfile& profile, bool step) const {
    ProgressLine line;
    const search::ProfileCheck found =
        search::check_profile(space, profile, check_, step, [&](size_t done, size_t all) {
          line.count(step ? "measuring whole models at a step" : "measuring whole models at a prompt", done,
                     all, "rounds");
          stop_if_asked();
        });
    if (!json_) {
      std::printf(
          "%s: sums of pieces against %lld random models measured as a whole: off by %.1f%% median, %.1f%% "
          "at "
          "the 95th percentile, %.1f%% at most\n",
          step ? "one more token" : "prompt", static_cast<long long>(check_), 100 * found.errors.median,
          100 * found.errors.p95, 100 * found.errors.worst);
      std::printf(
          "  models took %.3f times their sums, speed of the machine left out; apart from that %.1f%%, "
          "%.1f%% "
          "and %.1f%%\n",
          found.drift, 100 * found.apart.median, 100 * found.apart.p95, 100 * found.apart.worst);
    }
    Json models = Json::array();
    for (const auto& m : found.models)
      models.push_back({{"model", m.key}, {"predicted", m.predicted}, {"measured", m.measured}});
    return {{"median_error", found.errors.median},
            {"p95_error", found.errors.p95},
            {"worst_error", found.errors.worst},
            {"drift", found.drift},
            {"median_error_apart_from_drift", found.apart.median},
            {"p95_error_apart_from_drift", found.apart.p95},
            {"models", models}};
  }

  static void print_json(Json json, const measure::DeviceProfile& profile) {
    json["pieces"] = Json::array();
    for (const auto& [key, t] : profile.pieces())
      json["pieces"].push_back(
          {{"piece", Json::parse(key)},
           {"seconds", {{"median", t.median}, {"p10", t.low}, {"p90", t.high}, {"runs", t.runs}}},
           {"measured", profile.date(key)}});
    std::printf("%s\n", json.dump(2).c_str());
  }

  // One line per backbone, letter, width, and prompt or step.
  static void print(const measure::Device& device, const measure::DeviceProfile& profile) {
    std::printf("%s\n", device.fingerprint().c_str());
    struct Row {
      size_t pieces = 0;
      double least = 1e9, most = 0, spread = 0;
      std::string date;
    };
    std::map<std::tuple<std::string, std::string, bool, int64_t, int64_t>, Row> rows;
    for (const auto& [key, t] : profile.pieces()) {
      const Json piece = Json::parse(key);
      const spec::ModelSpec defaults =
          spec::backbones().find(piece.at("backbone").get<std::string>()).settings();
      const std::string arch = piece.value("arch", defaults.arch);
      Row& row =
          rows[{piece.at("backbone"), spec::without_identity(spec::parse_arch(arch)).empty() ? "frame" : arch,
                piece.value("step", false), piece.at("length"), piece.value("width", defaults.width)}];
      ++row.pieces;
      row.least = std::min(row.least, t.median);
      row.most = std::max(row.most, t.median);
      row.spread += (t.high - t.low) / t.median;
      row.date = std::max(row.date, profile.date(key).substr(0, 10));
    }
    if (rows.empty()) {
      std::printf("nothing is measured yet; run `heed device SPACE`\n");
      return;
    }
    std::printf("\n%-16s %-6s %9s %6s %7s %11s %11s %7s  %s\n", "backbone", "block", "at", "width", "pieces",
                "fastest", "slowest", "spread", "measured");
    for (const auto& [where, row] : rows) {
      const auto& [backbone, block, step, length, width] = where;
      std::printf("%-16s %-6s %9s %6lld %7zu %11s %11s %6.1f%%  %s\n", backbone.c_str(), block.c_str(),
                  text(length, step ? " + 1" : "").c_str(), static_cast<long long>(width), row.pieces,
                  format_seconds(row.least).c_str(), format_seconds(row.most).c_str(),
                  100 * row.spread / static_cast<double>(row.pieces), row.date.c_str());
    }
  }

  std::string space_, genes_, profile_;
  int64_t check_ = 0;
  bool json_ = false;
};

}  // namespace

VerbEntry device_verb() {
  return entry<DeviceVerb>("device", "Measures how long blocks take on this machine, and shows the results.",
                           {"heed device", "heed device letters --check 30"});
}

}  // namespace heed::cli
