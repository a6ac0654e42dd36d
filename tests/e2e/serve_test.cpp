#include <chrono>
#include <csignal>
#include <thread>

#include "tests/e2e/support.h"
#include "tests/support/http_client.h"

namespace heed::test {
namespace {

namespace fs = std::filesystem;

TEST_F(Verbs, ServeShowsARunAndEndsWhenAsked) {
  const std::string run = trained("run", "--steps 5");
  const Child child("serve " + run + " --port 0", path("out"));
  std::string said;
  for (int wait = 0; wait < 2000 && said.find('\n') == std::string::npos; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (fs::exists(path("out"))) said = content(path("out"));
  }
  ASSERT_TRUE(said.starts_with("http://127.0.0.1:")) << said;
  const int port = std::stoi(said.substr(17));
  EXPECT_EQ(ask(port, "GET", "/").status, 200);
  EXPECT_NE(ask(port, "GET", "/document.json").body.find("\"kind\":\"training\""), std::string::npos);
  EXPECT_EQ(ask(port, "GET", "/run/config.json").status, 404);
  refuses(heed::text("serve ", run, " --port ", port), 1, "cannot be opened; give another with --port");
  child.send(SIGINT);
  EXPECT_EQ(child.status(), 0);
  EXPECT_TRUE(contains(heed("serve --help"), "on this machine only"));
  refuses("serve " + run + " --port 70000", 2, "--port is 70000");
  refuses("serve " + path("none"), 2, "does not exist");
}

}  // namespace
}  // namespace heed::test
