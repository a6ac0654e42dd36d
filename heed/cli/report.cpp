#include "heed/cli/report.h"

#include <cstdio>

#include "heed/base/files.h"
#include "heed/base/units.h"
#include "heed/cli/shown_runs.h"
#include "heed/cli/version.h"
#include "heed/report/document.h"
#include "heed/report/page.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

class Report : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.path("o,out", out_, "file of the page");
    shown_.declare(flags);
  }

  void run() override {
    const std::vector<fs::path> paths = shown_.paths("report");
    check_out();
    std::vector<Json> runs;
    for (const fs::path& path : paths) report::require_run(path);
    for (const fs::path& path : paths) {
      runs.push_back(report::read_run(path));
      for (const Json& problem : runs.back()["problems"])
        std::fprintf(stderr, "%s: %s\n", path.c_str(), problem.get<std::string>().c_str());
    }
    const std::string page = report::page_with(report::document(runs, version()));
    write_file(out_, page);
    std::printf("%s: %zu %s, %s; opens in any browser\n", out_.c_str(), runs.size(),
                runs.size() == 1 ? "run" : "runs", format_bytes(static_cast<int64_t>(page.size())).c_str());
  }

 private:
  // An earlier page is replaced; any other file stays.
  void check_out() const {
    if (out_.empty()) throw usage_error("report: give a file with -o FILE.html");
    if (!fs::exists(out_)) return;
    if (!fs::is_regular_file(out_))
      throw usage_error("report: ", out_, " is not a file; give one with -o FILE.html");
    const MappedFile before(out_);
    if (before.size() > 0 && !report::is_page(before.text()))
      throw usage_error("report: ", out_, " exists and is not a page of heed; give another file");
  }

  std::string out_ = "report.html";
  ShownRuns shown_;
};

}  // namespace

VerbEntry report_verb() {
  return entry<Report>("report",
                       "Shows runs as one page that opens from disk: frontier, models, training, device.",
                       {"heed report found run -o report.html"});
}

}  // namespace heed::cli
