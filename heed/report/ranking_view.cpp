#include "heed/report/views.h"
#include "heed/store/json_file.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

RunView read(const fs::path& run) {
  RunView view;
  view.json = store::read_json_object(run / "ranking.json");
  const size_t models = view.json.at("models").size();
  for (const Json& proxy : view.json.at("proxies")) {
    if (proxy.at("scores").size() != models)
      throw failure((run / "ranking.json").string(), ": ", proxy.at("name").dump(), " has ",
                    proxy.at("scores").size(), " scores for ", models,
                    " models; `heed rank` writes it again");
  }
  view.json["state"] = models == 0 ? "empty" : "done";
  return view;
}

}  // namespace

View ranking_view() {
  return {"ranking", [](const fs::path& run) { return fs::exists(run / "ranking.json"); },
          []() -> Reading { return read; }};
}

}  // namespace heed::report
