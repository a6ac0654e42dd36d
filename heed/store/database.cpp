#include "heed/store/database.h"

#include <sqlite3.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include "heed/base/system_error.h"

namespace heed::store {
namespace {

constexpr int kPatienceMilliseconds = 30000;  // for other writers

[[noreturn]] void fail(sqlite3* database, const std::filesystem::path& path) {
  const int code = database ? sqlite3_errcode(database) : SQLITE_NOMEM;
  const std::string what = database ? sqlite3_errmsg(database) : "out of memory";
  switch (code) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw damaged_error(path.string(), ": ", what, "; move it away to start a new one");
    case SQLITE_ERROR:  // a table or a column is missing: heed did not write this
      throw damaged_error(path.string(), ": ", what);
    case SQLITE_NOMEM:
      throw system_error(path.string(), ": ", what, "; choose a smaller model or batch");
    case SQLITE_FULL:
      throw system_error(path.string(), ": ", what, ": ", system_reason(ENOSPC));
    case SQLITE_READONLY:
      throw system_error(path.string(), ": ", what, ": ", system_reason(EACCES));
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR: {
      // Not every failure sets the reason on the connection.
      const int kept = errno, number = sqlite3_system_errno(database) ? sqlite3_system_errno(database) : kept;
      throw system_error(path.string(), ": ", what, number ? ": " + system_reason(number) : "");
    }
    default:
      throw system_error(path.string(), ": ", what);
  }
}

// A database that no process has open needs no files beside it, which a reader might not be allowed to
// create, or would leave behind.
std::string address_to_read(const std::filesystem::path& path) {
  std::string address = "file:";
  for (const unsigned char c : std::filesystem::absolute(path).string()) {
    char coded[4];
    std::snprintf(coded, sizeof coded, "%%%02x", c);
    address += std::isalnum(c) || c == '/' ? std::string(1, static_cast<char>(c)) : coded;
  }
  return address + (std::filesystem::exists(path.string() + "-wal") ? "?mode=ro" : "?immutable=1");
}

}  // namespace

bool Database::has_column(std::string_view table, std::string_view column) const {
  return Statement(*this, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?").with(table, column).step();
}

std::string database_library() { return heed::text("SQLite ", sqlite3_libversion()); }

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Database::Database(const std::filesystem::path& path, Mode mode) : path_(path) {
  sqlite3* opened = nullptr;
  const int code = mode == kReadOnly ? sqlite3_open_v2(address_to_read(path).c_str(), &opened,
                                                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr)
                                     : sqlite3_open_v2(path.c_str(), &opened,
                                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database_.reset(opened);
  if (code != SQLITE_OK) fail(opened, path);
  sqlite3_busy_timeout(opened, kPatienceMilliseconds);
  if (mode == kReadOnly) return;
  // A commit is on disk when it returns, even if the machine loses power.
  switch_to_wal();
  execute("PRAGMA synchronous = FULL");
  execute("PRAGMA foreign_keys = ON");
}

// Only this statement fails at once, without waiting, while another process runs the same.
void Database::switch_to_wal() const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMilliseconds);
  errno = 0;
  while (sqlite3_exec(database_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr) != SQLITE_OK) {
    if (sqlite3_errcode(database_.get()) != SQLITE_BUSY || std::chrono::steady_clock::now() > end)
      fail(database_.get(), path_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Database::execute(const std::string& sql) const {
  errno = 0;
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(database_.get(), path_);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(const Database& database, const std::string& sql) : database_(database) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database.database_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail();
  statement_.reset(prepared);
}

void Statement::fail() const { store::fail(database_.database_.get(), database_.path()); }

bool Statement::step() {
  errno = 0;
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
  return code == SQLITE_ROW;
}

void Statement::run() {
  step();
  reset();
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::bind(int place, int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), place + 1, value) != SQLITE_OK) fail();
}
void Statement::bind(int place, double value) {
  if (sqlite3_bind_double(statement_.get(), place + 1, value) != SQLITE_OK) fail();
}
void Statement::bind(int place, std::string_view value) {
  if (sqlite3_bind_text64(statement_.get(), place + 1, value.data(), value.size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8) != SQLITE_OK)
    fail();
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))) : "";
}

}  // namespace heed::store
