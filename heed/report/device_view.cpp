#include "heed/base/json.h"
#include "heed/graph/count.h"
#include "heed/measure/device_profile.h"
#include "heed/measure/timed_model.h"
#include "heed/report/views.h"
#include "heed/search/block_table.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

Json piece_json(const std::string& key) {
  const auto [model, work] = measure::piece_of(key);
  const spec::Block block = model.blocks().at(0);
  const bool is_block = !block.is_identity();
  const auto flops = graph::count(*measure::build_timed(model, measure::form_of(model, work))).total.flops;
  return {{"key", key},
          {"what", is_block ? "block" : "frame"},
          {"backbone", model.backbone},
          {"length", work.length},
          {"step", work.step},
          {"letter", is_block ? std::string(1, block.letter) : ""},
          {"width", model.width},
          {"sizes", search::sizes_json(block)},
          {"vocabulary", is_block ? Json() : Json(model.embedding.vocabulary)},
          {"embedding_width", is_block ? Json() : Json(model.table_width())},
          {"gflop", 1e-9 * flops}};
}

Json device_json(const store::Database& database, const measure::StoredDevice& of, RunView& view) {
  Json device = {{"device", parse_json(of.description)}, {"peak_gflops", Json()}, {"pieces", Json::array()}};
  view.try_to([&] {
    if (const double peak = measure::read_peak(database, of.id)) device["peak_gflops"] = 1e-9 * peak;
  });
  measure::StoredTimings stored = measure::read_timings(database, of.id);
  for (const auto& entry : stored.rounds) {
    view.try_to([&, &key = entry.first, &timings = entry.second] {
      const measure::Timing timing = measure::combine(timings, stored.reference);
      Json piece = piece_json(key);
      piece["ms"] = 1e3 * timing.median, piece["low_ms"] = 1e3 * timing.low,
      piece["high_ms"] = 1e3 * timing.high;
      piece["date"] = stored.dates[key];
      device["pieces"].push_back(std::move(piece));
    });
  }
  return device;
}

RunView read(const fs::path& run) {
  RunView view;
  const store::Database database(run, store::Database::kReadOnly);
  Json devices = Json::array();
  for (const measure::StoredDevice& device : measure::read_devices(database))
    view.try_to([&] { devices.push_back(device_json(database, device, view)); });
  view.json = {{"state", devices.empty() ? "empty" : "done"}};
  view.json["devices"] = std::move(devices);
  return view;
}

}  // namespace

View device_view() {
  return {"device", std::nullopt, []() -> Reading { return read; }};
}

}  // namespace heed::report
