// Folders of runs as the report reads them, whatever is in them (report/document.h). A database is made of
// the lines of "heed.db.lines": key, score, latency, decoder, total, resident and arena with tabs between
// them.
#include "heed/report/document.h"
#include "heed/report/page.h"
#include "heed/store/database.h"
#include "tests/fuzz/support.h"

using namespace heed;

namespace {

void make_database(const std::filesystem::path& run) {
  const std::filesystem::path lines = run / "heed.db.lines";
  if (!std::filesystem::exists(lines)) return;
  const store::Database database(run / "heed.db");
  database.execute("CREATE TABLE evaluations (key, score, latency, decoder, total, resident, arena)");
  std::ifstream file(lines);
  for (std::string line; std::getline(file, line);) {
    std::string_view rest = line;
    std::string sql = "INSERT INTO evaluations VALUES (?";
    const std::string key(rest.substr(0, rest.find('\t')));
    rest.remove_prefix(std::min(rest.size(), key.size() + 1));
    for (int i = 0; i < 6; ++i) {
      const std::string_view number = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(rest.size(), number.size() + 1));
      sql += ", " + (number.empty() || number.find_first_not_of("0123456789.e-") != number.npos
                         ? "0"
                         : std::string(number));
    }
    fuzz::answers([&] { store::Statement(database, sql + ")").with(std::string_view(key)).run(); });
  }
}

}  // namespace

HEED_FUZZ_TARGET(input) {
  const fuzz::Folder folder(
      input, {"config.json", "run.json", "settings.json", "search.json", "blocks.json", "ranking.json",
              "metrics.jsonl", "samples.jsonl", "seed-1/theta.jsonl", "seed-1/metrics.jsonl",
              "seed-1/result.json", "heed.db", "heed.db.lines", "profile.db", "pareto.csv"});
  make_database(folder.path());
  const bool device = std::filesystem::exists(folder.path() / "profile.db");
  // Reading answers with a run in any case: what is wrong is told in it.
  const Json run = report::read_run(device ? folder.path() / "profile.db" : folder.path());
  for (const std::string problem : run.at("problems"))
    fuzz::law(problem.find("assertion failed") == problem.npos, "input trips no assertion");
  const std::string page = report::page_with(report::document({run, run}, "1"));
  fuzz::law(report::is_page(page), "a page is a page");
}
