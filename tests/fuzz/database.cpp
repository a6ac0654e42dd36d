// Databases that others made: a device's profile, the records of a search (store/database.h). The library
// that reads the bytes is not ours; what heed asks it and does with the answers is.
#include "heed/store/database.h"

#include "tests/fuzz/support.h"

using namespace heed;

namespace {

void read_all(const store::Database& database) {
  for (const char* sql :
       {"SELECT id, description FROM devices ORDER BY (SELECT count(*) FROM timings WHERE device = "
        "devices.id)",
        "SELECT piece, median, low, high, runs, measured FROM timings WHERE device = 1 ORDER BY piece, round",
        "SELECT key, score, latency, decoder, total, resident, arena FROM evaluations ORDER BY rowid"}) {
    fuzz::answers([&] {
      store::Statement rows(database, sql);
      while (rows.step()) {
        rows.text(0), rows.text(1), rows.real(1), rows.integer(0);
      }
    });
  }
}

}  // namespace

HEED_FUZZ_TARGET(input) {
  const fuzz::Folder folder("", {});
  const std::filesystem::path path = folder.path() / "heed.db";
  fuzz::write(path, input);
  fuzz::answers([&] { read_all(store::Database(path, store::Database::kReadOnly)); });
  fuzz::answers([&] {
    const store::Database database(path);
    database.transaction([&] {
      database.execute(
          "CREATE TABLE IF NOT EXISTS devices (id INTEGER PRIMARY KEY, description TEXT NOT NULL)");
      store::Statement(database, "INSERT OR IGNORE INTO devices (description) VALUES (?)")
          .with(std::string_view("this one"))
          .run();
    });
    read_all(database);
  });
}
