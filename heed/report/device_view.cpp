#include "heed/base/json.h"
#include "heed/graph/count.h"
#include "heed/measure/device_profile.h"
#include "heed/measure/timed_model.h"
#include "heed/report/views.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostTokens = 1 << 24;

// What a piece is, from the name that measure::piece_key gave it.
Json piece_of(const std::string& key) {
  const Json named = parse_json(key);
  const std::string backbone = named.at("backbone");
  const int64_t length = named.at("length");
  Json settings = to_json(spec::backbones().find(backbone).settings());
  for (const auto& [name, value] : named.items()) {
    if (settings.contains(name)) settings[name] = value;
  }
  const spec::ModelSpec model = spec::read_model_spec(settings, key);
  if (length < 1 || length > kMostTokens)
    throw failure(key, ": a segment of ", length, " tokens; it must be from 1 to ", kMostTokens);
  const std::string letters = model.letters();
  const bool block = letters != "i";
  const char letter = block ? letters.at(0) : ' ';
  const bool recurs = letter == 'r' || letter == 'a';
  const auto flops = graph::count(*measure::build_timed(model, measure::prompt_use(length))).total.flops;
  return {
      {"what", block ? "block" : "frame"},
      {"backbone", backbone},
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

RunView read(const fs::path& run) {
  RunView view;
  const store::Database database(run, store::Database::kReadOnly);
  store::Statement devices(database,
                           "SELECT id, description FROM devices ORDER BY (SELECT count(*) FROM timings WHERE "
                           "device = devices.id) DESC, id");
  if (!devices.step()) {
    view.json = {
        {"device", Json::object()}, {"peak_gflops", Json()}, {"pieces", Json::array()}, {"state", "empty"}};
    return view;
  }
  const int64_t id = devices.integer(0);
  view.json = {{"device", parse_json(devices.text(1))},
               {"peak_gflops", Json()},
               {"pieces", Json::array()},
               {"state", "done"}};
  view.try_to([&] {
    store::Statement peak(database, "SELECT flops FROM peaks WHERE device = ?");
    if (peak.with(id).step()) view.json["peak_gflops"] = 1e-9 * peak.real(0);
  });
  if (devices.step())
    view.problems.push_back("it holds other devices too; the one with the most timings is shown");
  measure::StoredTimings stored = measure::read_timings(database, id);
  for (const auto& entry : stored.rounds) {
    view.try_to([&, &key = entry.first, &timings = entry.second] {
      const measure::Timing timing = measure::combine(timings);
      Json piece = piece_of(key);
      piece["ms"] = 1e3 * timing.median, piece["low_ms"] = 1e3 * timing.low,
      piece["high_ms"] = 1e3 * timing.high;
      piece["date"] = stored.dates[key];
      view.json["pieces"].push_back(std::move(piece));
    });
  }
  return view;
}

}  // namespace

View device_view() {
  return {"device", [](const fs::path& run) { return fs::is_regular_file(run) && run.extension() == ".db"; },
          read};
}

}  // namespace heed::report
