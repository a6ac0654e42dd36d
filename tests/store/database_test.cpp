#include "heed/store/database.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "heed/base/error.h"
#include "heed/base/files.h"
#include "tests/support/messages.h"

namespace heed::store {
namespace {

int64_t count(const Database& database) {
  Statement statement(database, "SELECT count(*) FROM things");
  EXPECT_TRUE(statement.step());
  return statement.integer(0);
}

TEST(Database, KeepsWhatWasWritten) {
  const TemporaryFolder folder;
  {
    const Database database(folder / "a.db");
    database.execute("CREATE TABLE things (name TEXT PRIMARY KEY, size INTEGER, weight REAL)");
    Statement insert(database, "INSERT INTO things VALUES (?, ?, ?)");
    insert.with(std::string_view("one"), int64_t{1}, 0.5).run();
    insert.with(std::string_view("zwei \"'; --"), INT64_MIN, -0.0).run();
  }
  const Database database(folder / "a.db");
  Statement select(database, "SELECT name, size, weight FROM things WHERE size <= ? ORDER BY size DESC");
  ASSERT_TRUE(select.with(int64_t{1}).step());
  EXPECT_EQ(select.text(0), "one");
  EXPECT_EQ(select.integer(1), 1);
  EXPECT_EQ(select.real(2), 0.5);
  ASSERT_TRUE(select.step());
  EXPECT_EQ(select.text(0), "zwei \"'; --");
  EXPECT_EQ(select.integer(1), INT64_MIN);
  EXPECT_FALSE(select.step());
}

TEST(Database, ATransactionIsAllOrNothing) {
  const TemporaryFolder folder;
  const Database database(folder / "a.db");
  database.execute("CREATE TABLE things (name TEXT)");
  EXPECT_THROW(database.transaction([&] {
    database.execute("INSERT INTO things VALUES ('one')");
    throw system_error("no");
  }),
               Error);
  EXPECT_EQ(count(database), 0);
  database.transaction([&] { database.execute("INSERT INTO things VALUES ('one')"); });
  EXPECT_EQ(count(database), 1);
}

// Runs `body` in several processes at once; it must throw in none of them.
void in_processes(int processes, const std::function<void()>& body) {
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    int code = 0;
    try {
      body();
    } catch (const std::exception& error) {
      std::fputs(heed::text(error.what(), "\n").c_str(), stderr);
      code = 1;
    }
    _exit(code);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

// Each reads and then writes, which fails by half without the right to write asked for first.
TEST(Database, ProcessesTakeTurns) {
  const TemporaryFolder folder;
  { Database(folder / "a.db").execute("CREATE TABLE things (name TEXT)"); }
  constexpr int kProcesses = 4, kEach = 50;
  in_processes(kProcesses, [&] {
    const Database database(folder / "a.db");
    for (int i = 0; i < kEach; ++i) {
      database.transaction([&] {
        count(database);
        database.execute("INSERT INTO things VALUES ('x')");
      });
    }
  });
  EXPECT_EQ(count(Database(folder / "a.db")), kProcesses * kEach);
}

// The journal is switched to WAL by whoever comes first, and SQLite does not wait for that by itself.
TEST(Database, ProcessesMayAllBeTheFirst) {
  const TemporaryFolder folder;
  constexpr int kProcesses = 4;
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    const auto path = folder / heed::text(i, ".db");
    in_processes(kProcesses, [&] {
      const Database database(path);
      database.execute("CREATE TABLE IF NOT EXISTS things (name TEXT)");
      database.execute("INSERT INTO things VALUES ('x')");
    });
    EXPECT_EQ(count(Database(path)), kProcesses);
  }
}

TEST(Database, ReadersLeaveNothingBehindAndNeedNoRightToWrite) {
  const TemporaryFolder folder;
  const auto place = folder / "a folder? 100%";
  std::filesystem::create_directories(place);
  {
    const Database database(place / "a.db");
    database.execute("CREATE TABLE things (name TEXT)");
    database.execute("INSERT INTO things VALUES ('x')");
    EXPECT_EQ(count(Database(place / "a.db", Database::kReadOnly)), 1);  // while it is written
  }
  EXPECT_EQ(count(Database(place / "a.db", Database::kReadOnly)), 1);
  const auto files = std::distance(std::filesystem::directory_iterator(place), {});
  EXPECT_EQ(files, 1);
  EXPECT_SAYS(Database(place / "a.db", Database::kReadOnly).execute("DELETE FROM things"), "readonly",
              ErrorKind::kSystem);
  EXPECT_NE(test::message_of([&] { Database(place / "b.db", Database::kReadOnly); }, ErrorKind::kSystem), "");
  EXPECT_FALSE(std::filesystem::exists(place / "b.db"));
}

TEST(Database, SaysWhatIsInTheWay) {
  const TemporaryFolder folder;
  EXPECT_SAYS(Database(folder / "none/a.db"), "unable to open database file", ErrorKind::kSystem);
  EXPECT_SAYS(Database(folder.path()), "unable to open", ErrorKind::kSystem);
  std::ofstream(folder / "text.db") << std::string(5000, 'x');
  EXPECT_SAYS(Database(folder / "text.db"), "move it away to start a new one", ErrorKind::kDamaged);
  const Database database(folder / "a.db");
  EXPECT_SAYS(database.execute("SELECT * FROM missing"), "no such table", ErrorKind::kDamaged);
  EXPECT_SAYS(Statement(database, "SELEKT"), "syntax error", ErrorKind::kDamaged);
}

}  // namespace
}  // namespace heed::store
