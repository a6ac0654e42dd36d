#include "heed/measure/device_profile.h"

#include "heed/base/json.h"

namespace heed::measure {

std::string piece_key(const spec::ModelSpec& model, const Work& work) {
  const Json shared = to_json(spec::backbones().find(model.backbone).settings());
  Json key = {{"backbone", model.backbone}, {"length", work.length}, {"batch", 1}, {"dtype", "f32"}};
  if (work.step) key["step"] = true;
  const Json all = to_json(model);
  for (const auto& [name, value] : all.items()) {
    if (value != shared.at(name)) key[name] = value;
  }
  return key.dump();
}

Piece piece_of(const std::string& key) {
  constexpr int64_t kMostTokens = 1 << 24;
  const Json named = Json::accept(key) ? parse_json(key) : Json();
  if (!named.is_object() || !named.contains("backbone") || !named["backbone"].is_string() ||
      !named.contains("length") || !named["length"].is_number_integer() || named["length"] < 1 ||
      named["length"] > kMostTokens)
    throw damaged_error("'", key, "' is not the name of a piece of a model; is the profile damaged?");
  Json settings = to_json(spec::backbones().find(named["backbone"].get<std::string>()).settings());
  for (const auto& [name, value] : named.items()) {
    if (name != "length" && name != "step" && name != "batch" && name != "dtype") settings[name] = value;
  }
  return {spec::read_model_spec(settings, key),
          {named["length"].get<int64_t>(), named.value("step", Json(false)) == true}};
}

std::vector<StoredDevice> read_devices(const store::Database& database) {
  std::vector<StoredDevice> devices;
  store::Statement rows(database,
                        "SELECT id, description FROM devices ORDER BY (SELECT count(*) FROM timings WHERE "
                        "device = devices.id) DESC, id");
  while (rows.step()) devices.push_back({rows.integer(0), rows.text(1)});
  return devices;
}

double read_peak(const store::Database& database, int64_t device) {
  store::Statement peak(database, "SELECT flops FROM peaks WHERE device = ?");
  return peak.with(device).step() ? peak.real(0) : 0;
}

namespace {

// Fast moments, but not the luckiest.
double reference_of(const std::map<std::string, std::vector<Timing>>& rounds) {
  std::vector<double> yardsticks;
  for (const auto& [key, timings] : rounds) {
    for (const Timing& timing : timings) {
      if (timing.yardstick > 0) yardsticks.push_back(timing.yardstick);
    }
  }
  return percentile(std::move(yardsticks), 0.25);
}

}  // namespace

StoredTimings read_timings(const store::Database& database, int64_t device) {
  StoredTimings stored;
  store::Statement rows(database, text("SELECT piece, median, low, high, runs, measured, ",
                                       database.has_column("timings", "yardstick") ? "yardstick" : "0",
                                       " FROM timings WHERE device = ? ORDER BY piece, round"));
  for (rows.with(device); rows.step();) {
    const std::string key = rows.text(0);
    stored.rounds[key].push_back(
        {rows.real(1), rows.real(2), rows.real(3), static_cast<int>(rows.integer(4)), rows.real(6)});
    stored.dates[key] = rows.text(5);
  }
  stored.reference = reference_of(stored.rounds);
  return stored;
}

DeviceProfile::DeviceProfile(const store::Database& database, const Device& device) : database_(database) {
  database.transaction([&] {
    database.execute(
        "CREATE TABLE IF NOT EXISTS devices (id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE NOT NULL, "
        "description TEXT NOT NULL, first_seen TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)");
    database.execute(
        "CREATE TABLE IF NOT EXISTS timings (device INTEGER NOT NULL REFERENCES devices(id), piece TEXT NOT "
        "NULL, round INTEGER NOT NULL, median REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, "
        "runs INTEGER NOT NULL, measured TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, "
        "yardstick REAL NOT NULL DEFAULT 0, PRIMARY KEY (device, piece, round))");
    if (!database.has_column("timings", "yardstick"))
      database.execute("ALTER TABLE timings ADD COLUMN yardstick REAL NOT NULL DEFAULT 0");
    database.execute(
        "CREATE TABLE IF NOT EXISTS peaks (device INTEGER PRIMARY KEY REFERENCES devices(id), flops REAL NOT "
        "NULL)");
    database.execute(
        "CREATE TABLE IF NOT EXISTS load_paces (device INTEGER PRIMARY KEY REFERENCES devices(id), fixed "
        "REAL NOT "
        "NULL, block REAL NOT NULL, byte REAL NOT NULL)");
    store::Statement(database, "INSERT OR IGNORE INTO devices (fingerprint, description) VALUES (?, ?)")
        .with(std::string_view(device.fingerprint()), std::string_view(to_json(device).dump()))
        .run();
  });
  store::Statement id(database, "SELECT id FROM devices WHERE fingerprint = ?");
  id.with(std::string_view(device.fingerprint())).step();
  device_ = id.integer(0);
  peak_flops_ = read_peak(database, device_);
  store::Statement pace(database, "SELECT fixed, block, byte FROM load_paces WHERE device = ?");
  if (pace.with(device_).step()) load_pace_ = {pace.real(0), pace.real(1), pace.real(2)};
  stored_ = read_timings(database, device_);
  combine_rounds();
}

// Of all pieces: they share the reference.
void DeviceProfile::combine_rounds() {
  stored_.reference = reference_of(stored_.rounds);
  for (const auto& [key, rounds] : stored_.rounds) pieces_[key] = combine(rounds, stored_.reference);
}

const std::vector<Timing>& DeviceProfile::rounds(const std::string& key) const {
  static const std::vector<Timing> none;
  const auto found = stored_.rounds.find(key);
  return found == stored_.rounds.end() ? none : found->second;
}

std::optional<Timing> DeviceProfile::find(const std::string& key) const {
  const auto found = pieces_.find(key);
  return found == pieces_.end() ? std::nullopt : std::optional(found->second);
}

void DeviceProfile::save_peak(double flops) {
  store::Statement(database_, "INSERT OR REPLACE INTO peaks (device, flops) VALUES (?, ?)")
      .with(device_, flops)
      .run();
  peak_flops_ = flops;
}

void DeviceProfile::save_load_pace(const LoadPace& pace) {
  store::Statement(database_,
                   "INSERT OR REPLACE INTO load_paces (device, fixed, block, byte) VALUES (?, ?, ?, ?)")
      .with(device_, pace.fixed, pace.block, pace.byte)
      .run();
  load_pace_ = pace;
}

void DeviceProfile::add(const std::map<std::string, Timing>& timings) {
  database_.transaction([&] {
    store::Statement insert(database_,
                            "INSERT OR IGNORE INTO timings (device, piece, round, median, low, high, runs, "
                            "yardstick) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    for (const auto& [key, t] : timings)
      insert
          .with(device_, std::string_view(key), static_cast<int64_t>(rounds(key).size()), t.median, t.low,
                t.high, int64_t{t.runs}, t.yardstick)
          .run();
  });
  store::Statement now(database_, "SELECT CURRENT_TIMESTAMP");
  now.step();
  for (const auto& [key, timing] : timings) {
    stored_.dates[key] = now.text(0);
    stored_.rounds[key].push_back(timing);
  }
  combine_rounds();
}

}  // namespace heed::measure
