#include "heed/report/views.h"
#include "heed/store/json_file.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

// Models that have a folder, trained or in training.
int64_t models_begun(const fs::path& run) {
  int64_t begun = 0;
  for (const auto& entry : fs::directory_iterator(run)) begun += fs::exists(entry.path() / "config.json");
  return begun;
}

RunView read(const fs::path& run) {
  RunView view;
  view.json = {{"models", Json::array()}, {"percents", Json::array()}, {"proxies", Json::array()}};
  const bool done = fs::exists(run / "ranking.json");
  if (done) view.json = store::read_json_object(run / "ranking.json");
  view.json["begun"] = models_begun(run);
  const size_t models = view.json.at("models").size();
  for (const Json& proxy : view.json.at("proxies")) {
    if (proxy.at("scores").size() != models)
      throw damaged_error((run / "ranking.json").string(), ": ", proxy.at("name").dump(), " has ",
                          proxy.at("scores").size(), " scores for ", models,
                          " models; `heed rank` writes it again");
  }
  const std::string state = state_of(run, done);
  view.json["state"] = state == "done" && models == 0 ? "empty" : state;
  return view;
}

}  // namespace

View worth_view() {
  return {"ranking", store::RunKind::kWorth, []() -> Reading { return read; }};
}

View ranking_view() {
  return {"ranking", store::RunKind::kRank, []() -> Reading { return read; }};
}

}  // namespace heed::report
