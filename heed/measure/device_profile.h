// How long the pieces of models take on this machine, kept in a database. A piece is a block of a certain
// shape, or the frame of a model: embedding, output and what all blocks share.
#pragma once

#include <map>
#include <optional>

#include "heed/measure/device.h"
#include "heed/measure/loading.h"
#include "heed/spec/model_spec.h"
#include "heed/store/database.h"

namespace heed::measure {

// Names a piece: every setting that differs from its backbone, and what it is timed at.
std::string piece_key(const spec::ModelSpec& model, const Work& work);
// The reverse. Throws if it is not such a name, or is one of another version of heed.
struct Piece {
  spec::ModelSpec model;
  Work work;
};
Piece piece_of(const std::string& key);

// A device that a database knows.
struct StoredDevice {
  int64_t id = 0;           // in this database
  std::string description;  // to_json(Device), as text
};
// The devices with the most timings come first.
std::vector<StoredDevice> read_devices(const store::Database& database);
// FLOPS of matrix products (timing.h); 0 before it is saved.
double read_peak(const store::Database& database, int64_t device);
// What a database holds about a device, by piece.
struct StoredTimings {
  std::map<std::string, std::vector<Timing>> rounds;
  std::map<std::string, std::string> dates;  // of the last round, UTC
  double reference = 0;                      // seconds of the yardstick (DeviceProfile::reference)
};
StoredTimings read_timings(const store::Database& database, int64_t device);

class DeviceProfile {
 public:
  DeviceProfile(const store::Database& database, const Device& device);

  const std::map<std::string, Timing>& pieces() const { return pieces_; }
  std::optional<Timing> find(const std::string& key) const;
  const std::string& date(const std::string& key) const {
    return stored_.dates.at(key);
  }  // of the last round, UTC
  const std::vector<Timing>& rounds(const std::string& key) const;
  double peak_flops() const { return peak_flops_; }
  // Seconds of the yardstick that all timings are scaled to: what it usually takes here when nothing else
  // runs.
  double reference() const { return stored_.reference; }
  void save_peak(double flops);
  // Null before it is saved.
  const std::optional<LoadPace>& load_pace() const { return load_pace_; }
  void save_load_pace(const LoadPace& pace);
  // One more round of each. On disk when it returns.
  void add(const std::map<std::string, Timing>& timings);

 private:
  void combine_rounds();

  const store::Database& database_;
  int64_t device_;
  double peak_flops_ = 0;
  std::optional<LoadPace> load_pace_;
  StoredTimings stored_;
  std::map<std::string, Timing> pieces_;
};

}  // namespace heed::measure
