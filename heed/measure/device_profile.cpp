#include "heed/measure/device_profile.h"

namespace heed::measure {

std::string piece_key(const spec::ModelSpec& model, int64_t length) {
  const Json shared = to_json(spec::backbones().find(model.backbone).settings());
  Json key = {{"backbone", model.backbone}, {"length", length}};
  const Json all = to_json(model);
  for (const auto& [name, value] : all.items()) {
    if (value != shared.at(name)) key[name] = value;
  }
  return key.dump();
}

DeviceProfile::DeviceProfile(const store::Database& database, const Device& device) : database_(database) {
  database.transaction([&] {
    database.execute(
        "CREATE TABLE IF NOT EXISTS devices (id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE NOT NULL, "
        "description TEXT NOT NULL, first_seen TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)");
    database.execute(
        "CREATE TABLE IF NOT EXISTS pieces (device INTEGER NOT NULL REFERENCES devices(id), key TEXT NOT "
        "NULL, "
        "median REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, runs INTEGER NOT NULL, "
        "measured TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (device, key))");
    store::Statement(database, "INSERT OR IGNORE INTO devices (fingerprint, description) VALUES (?, ?)")
        .with(std::string_view(device.fingerprint()), std::string_view(to_json(device).dump()))
        .run();
  });
  store::Statement id(database, "SELECT id FROM devices WHERE fingerprint = ?");
  id.with(std::string_view(device.fingerprint())).step();
  device_ = id.integer(0);
  store::Statement rows(database, "SELECT key, median, low, high, runs FROM pieces WHERE device = ?");
  for (rows.with(device_); rows.step();)
    pieces_[rows.text(0)] = {rows.real(1), rows.real(2), rows.real(3), static_cast<int>(rows.integer(4))};
}

std::optional<Timing> DeviceProfile::find(const std::string& key) const {
  const auto found = pieces_.find(key);
  return found == pieces_.end() ? std::nullopt : std::optional(found->second);
}

void DeviceProfile::save(const std::map<std::string, Timing>& timings) {
  database_.transaction([&] {
    store::Statement insert(database_,
                            "INSERT OR REPLACE INTO pieces (device, key, median, low, high, runs) "
                            "VALUES (?, ?, ?, ?, ?, ?)");
    for (const auto& [key, t] : timings)
      insert.with(device_, std::string_view(key), t.median, t.low, t.high, int64_t{t.runs}).run();
  });
  for (const auto& [key, timing] : timings) pieces_[key] = timing;
}

}  // namespace heed::measure
