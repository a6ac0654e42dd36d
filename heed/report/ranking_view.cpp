#include "heed/report/views.h"
#include "heed/store/json_file.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

RunView read(const fs::path& run) {
  RunView view;
  view.json = {{"models", Json::array()}, {"percents", Json::array()}, {"proxies", Json::array()}};
  const bool done = fs::exists(run / "ranking.json");
  if (done) view.json = read_ranking(run);
  view.json["begun"] = models_begun(run);
  const std::string state = state_of(run, done);
  view.json["state"] = state == "done" && view.json.at("models").empty() ? "empty" : state;
  return view;
}

}  // namespace

Json read_ranking(const fs::path& run) {
  const fs::path file = run / "ranking.json";
  Json ranking = store::read_json_object(file);
  const size_t models = ranking.at("models").size();
  for (const Json& proxy : ranking.at("proxies")) {
    if (proxy.at("scores").size() != models)
      throw damaged_error(file.string(), ": ", proxy.at("name").dump(), " has ", proxy.at("scores").size(),
                          " scores for ", models, " models; the command that made it writes it again");
  }
  return ranking;
}

View ranking_view() {
  return {"ranking", store::RunKind::kRank, []() -> Reading { return read; }};
}

}  // namespace heed::report
