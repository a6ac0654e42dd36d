#include "heed/base/json.h"
#include "heed/graph/count.h"
#include "heed/measure/device_profile.h"
#include "heed/measure/timed_model.h"
#include "heed/report/views.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

Json piece_json(const std::string& key) {
  const auto [model, length] = measure::piece_of(key);
  const std::string letters = model.letters();
  const bool block = letters != "i";
  const char letter = block ? letters.at(0) : ' ';
  const bool recurs = letter == 'r' || letter == 'a';
  const auto flops = graph::count(*measure::build_timed(model, measure::prompt_use(length))).total.flops;
  return {
      {"what", block ? "block" : "frame"},
      {"backbone", model.backbone},
      {"length", length},
      {"letter", block ? Json(std::string(1, letter)) : Json("")},
      {"width", model.width},
      {"heads", letter == 's' ? Json(model.heads.at(0)) : Json()},
      {"inner", letter == 'f' ? Json(model.inner.at(0)) : Json()},
      {"projection", recurs ? Json(model.projection.at(0)) : Json()},
      {"vocabulary", block ? Json() : Json(model.vocabulary)},
      {"embedding_width", block ? Json() : Json(model.embedding_width ? model.embedding_width : model.width)},
      {"gflop", 1e-9 * flops}};
}

Json device_json(const store::Database& database, int64_t id, const std::string& description, RunView& view) {
  Json device = {{"device", parse_json(description)}, {"peak_gflops", Json()}, {"pieces", Json::array()}};
  view.try_to([&] {
    store::Statement peak(database, "SELECT flops FROM peaks WHERE device = ?");
    if (peak.with(id).step()) device["peak_gflops"] = 1e-9 * peak.real(0);
  });
  measure::StoredTimings stored = measure::read_timings(database, id);
  for (const auto& entry : stored.rounds) {
    view.try_to([&, &key = entry.first, &timings = entry.second] {
      const measure::Timing timing = measure::combine(timings);
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
  // What was timed most comes first.
  store::Statement rows(database,
                        "SELECT id, description FROM devices ORDER BY (SELECT count(*) FROM timings WHERE "
                        "device = devices.id) DESC, id");
  while (rows.step())
    view.try_to([&] { devices.push_back(device_json(database, rows.integer(0), rows.text(1), view)); });
  view.json = {{"state", devices.empty() ? "empty" : "done"}};
  view.json["devices"] = std::move(devices);
  return view;
}

}  // namespace

View device_view() {
  return {"device", [](const fs::path& run) { return fs::is_regular_file(run) && run.extension() == ".db"; },
          []() -> Reading { return read; }};
}

}  // namespace heed::report
