#include "heed/report/document.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include "heed/search/block_table.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char line[32];
  std::strftime(line, sizeof line, "%Y-%m-%d %H:%M:%S", &utc);
  return line;
}

const View& view_of(const fs::path& run) {
  if (!fs::exists(run)) throw usage_error(run.string(), " does not exist");
  const bool profile = fs::is_regular_file(run) && run.extension() == ".db";
  const std::optional<store::RunKind> kind = profile ? std::nullopt : store::run_kind(run);
  for (const View& view : views()) {
    if (view.shows == kind && (kind || profile)) return view;
  }
  throw usage_error(run.string(), fs::is_directory(run) && fs::is_empty(run) ? " is empty" : " holds no run",
                    "; give a folder that heed made with -o, or a device's profile (.db)");
}

// The name of the folder, even if it was given as "." or with a slash at its end.
std::string name_of(const fs::path& run) {
  const fs::path whole = fs::absolute(run).lexically_normal();
  return (whole.has_filename() ? whole.filename() : whole.parent_path().filename()).string();
}

// Models of searches, with the runs that trained them: the lowest loss on the valid part.
void match(std::vector<Json>& runs) {
  for (Json& search : runs) {
    if (search["kind"] != "search") continue;
    for (Json& model : search["models"]) {
      for (const Json& training : runs) {
        if (training["kind"] != "training" || training["model"] != model["spec"]) continue;
        std::vector<double> losses;
        for (const Json& loss : training["valid"]["loss"]) {
          if (loss.is_number()) losses.push_back(loss);
        }
        if (losses.empty()) continue;
        model["trained"].push_back({{"run", training["name"]},
                                    {"loss", *std::ranges::min_element(losses)},
                                    {"unit", training["unit"]}});
      }
    }
  }
}

// Milliseconds of a piece on the first device that has timed it, otherwise null.
Json milliseconds_of(const Json& piece_key, const std::vector<Json>& runs) {
  for (const Json& profile : runs) {
    if (profile["kind"] != "device") continue;
    for (const Json& device : profile["devices"]) {
      for (const Json& piece : device["pieces"]) {
        if (piece["key"] == piece_key) return piece["ms"];
      }
    }
  }
  return {};
}

// Blocks that `heed worth` has valued, with their times.
void add_times(std::vector<Json>& runs) {
  for (Json& worth : runs) {
    if (worth["kind"] != "worth") continue;
    for (Json& rates : worth["rates"]) {
      for (Json& block : rates["blocks"]) block["ms"] = milliseconds_of(block["piece"], runs);
    }
  }
}

}  // namespace

void require_run(const fs::path& run) {
  try {
    view_of(run);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUsage) throw;
  }
}

Json read_run(const fs::path& run) { return RunReader(run).read(); }

Json RunReader::read() {
  RunView view;
  std::string kind = "unreadable";
  try {
    const View* known = &view_of(run_);
    if (known != std::exchange(view_, known)) reading_ = known->begin();
    view = reading_(run_);
    kind = known->name;
  } catch (const std::exception& error) {
    view.json = Json::object();
    view.problems.push_back(error.what());
  }
  Json json = std::move(view.json);
  if (!json.contains("state")) json["state"] = "empty";
  json["kind"] = kind, json["name"] = name_of(run_), json["path"] = run_.string();
  json["problems"] = view.problems;
  return json;
}

Json document(std::vector<Json> runs, const std::string& version) {
  std::set<std::string> names;
  for (Json& run : runs) {
    const std::string name = run["name"], path = run["path"];
    std::string own = names.contains(name) ? path : name;
    for (int number = 2; !names.insert(own).second; ++number) own = text(path, " (", number, ")");
    run["name"] = own;
  }
  match(runs);
  add_times(runs);
  return {{"version", version}, {"made", now_utc()}, {"letters", search::letters_json()}, {"runs", runs}};
}

}  // namespace heed::report
