// SQLite, set up for sharing between processes: WAL, a long wait for other writers, and transactions that
// take the write lock when they begin.
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

// A prepared statement. Parameters and columns are both counted from 0.
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
  void run();   // for statements without rows

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
  // Opens the file, or creates it if it is to be written. Throws an Error that says what is wrong: a folder,
  // no write permission, not a database.
  explicit Database(const std::filesystem::path& path, Mode mode = kReadWrite);

  void execute(const std::string& sql) const;
  // All of `body` or none of it; on disk when it returns.
  template <class Body>
  void transaction(const Body& body) const {
    execute("BEGIN IMMEDIATE");
    try {
      body();
    } catch (...) {
      try {
        execute("ROLLBACK");
      } catch (...) {  // report the first failure
      }
      throw;
    }
    execute("COMMIT");
  }
  const std::filesystem::path& path() const { return path_; }
  // Whether the table exists and has the column: one of an earlier version may not.
  bool has_column(std::string_view table, std::string_view column) const;

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
