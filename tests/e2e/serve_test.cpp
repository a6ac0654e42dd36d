#include <arpa/inet.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

namespace fs = std::filesystem;

// What comes back for a request, until the other side closes.
std::string answer_of(int port, const std::string& request) {
  const int to = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  std::string answer;
  if (connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(to, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char part[4096];
    for (ssize_t size; (size = recv(to, part, sizeof part, 0)) > 0;)
      answer.append(part, static_cast<size_t>(size));
  }
  close(to);
  return answer;
}

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
  const auto get = [&](const std::string& what) {
    return answer_of(port, heed::text("GET ", what, " HTTP/1.1\r\nHost: 127.0.0.1:", port,
                                      "\r\nConnection: close\r\n\r\n"));
  };
  EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200")) << get("/").substr(0, 200);
  EXPECT_NE(get("/document.json").find("\"kind\":\"training\""), std::string::npos);
  EXPECT_TRUE(get("/run/config.json").starts_with("HTTP/1.1 404"));
  refuses(heed::text("serve ", run, " --port ", port), 1, "cannot be opened; give another with --port");
  child.send(SIGINT);
  EXPECT_EQ(child.status(), 0);
  EXPECT_TRUE(contains(heed("serve --help"), "on this machine only"));
  refuses("serve " + run + " --port 70000", 2, "--port is 70000");
  refuses("serve " + path("none"), 2, "does not exist");
}

}  // namespace
}  // namespace heed::test
