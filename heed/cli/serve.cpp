#include "heed/cli/serve.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "heed/cli/shown_runs.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/version.h"
#include "heed/serve/server.h"

namespace heed::cli {
namespace {

class Serve : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.option("port", port_, "port on 127.0.0.1; 0: any free one");
    shown_.declare(flags);
  }

  void run() override {
    if (port_ < 0 || port_ > 65535) throw usage_error("serve: --port is ", port_, "; it must be 0 to 65535");
    const auto runs = shown_.paths("serve");
    const StopSignals signals;
    const serve::Server server(runs, version(), static_cast<int>(port_));
    std::printf("http://127.0.0.1:%d/ shows %zu %s, live; Ctrl-C ends it\n", server.port(), runs.size(),
                runs.size() == 1 ? "run" : "runs");
    std::fflush(stdout);
    while (!StopSignals::asked()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

 private:
  int64_t port_ = 8123;
  ShownRuns shown_;
};

}  // namespace

VerbEntry serve_verb() {
  return entry<Serve>("serve", "Shows runs in the browser while they run, on this machine only.",
                      {"heed serve found run", "heed serve run --port 0"});
}

}  // namespace heed::cli
