// SQLite, with the few habits that make it safe to share: WAL, a patient wait for other writers, and
// transactions that ask for the right to write when they begin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace heed::store {

class Database;

// A prepared statement. Places are counted from 0 both for values given and for columns read.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int place = 0;
    (bind(place++, values), ...);
    return *this;
  }
  bool step();  // true while there is a row
  void run();   // for what has no rows

  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  void reset();
  void bind(int place, int64_t value);
  void bind(int place, double value);
  void bind(int place, std::string_view value);
  [[noreturn]] void fail() const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum Mode { kReadWrite, kReadOnly };
  // Opens the file, or makes it if it is to be written. An Error says what is in the way: a folder, no right
  // to write, no database.
  explicit Database(const std::filesystem::path& path, Mode mode = kReadWrite);

  void execute(const std::string& sql) const;
  // All of `body` or nothing of it; on disk when it returns.
  template <class Body>
  void transaction(const Body& body) const {
    execute("BEGIN IMMEDIATE");
    try {
      body();
    } catch (...) {
      try {
        execute("ROLLBACK");
      } catch (...) {  // the first failure is the one to tell of
      }
      throw;
    }
    execute("COMMIT");
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* database) const;
  };
  void switch_to_wal() const;

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> database_;
};

std::string database_library();  // "SQLite 3.40.1"

}  // namespace heed::store
