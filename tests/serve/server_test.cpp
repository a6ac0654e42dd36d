// The server: what it answers, to whom, and that pages are told what changes.
#include "heed/serve/server.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "heed/report/page.h"
#include "heed/serve/run_watch.h"

namespace heed::serve {
namespace {

class Serving : public testing::Test {
 protected:
  Serving() : server_({folder_.path()}, "1.2.3", 0), client_("127.0.0.1", server_.port()) {
    client_.set_tcp_nodelay(true);
  }
  std::string host() const { return text("127.0.0.1:", server_.port()); }
  // A connection on which nothing was said yet.
  int connected() const {
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(static_cast<uint16_t>(server_.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return made;
  }

  TemporaryFolder folder_;
  Server server_;
  httplib::Client client_;
};

TEST_F(Serving, ThePageAndTheDocument) {
  const auto page = client_.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, report::empty_page());
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page->get_header_value("Content-Security-Policy").find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page->get_header_value("Cache-Control"), "no-store");
  const auto document = client_.Get("/document.json");
  ASSERT_TRUE(document);
  EXPECT_EQ(Json::parse(document->body)["runs"][0]["kind"], "unreadable");
}

TEST_F(Serving, NothingElse) {
  for (const char* path : {"/x", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                           "/document.json/../heed.db", "//etc/passwd", "/events/x"}) {
    const auto answer = client_.Get(path);
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 404) << path;
  }
  const auto sent = client_.Post("/", "hello", "text/plain");
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->status, 405);
  const auto large = client_.Post("/", std::string(1 << 20, 'x'), "text/plain");
  EXPECT_TRUE(!large || large->status == 413 || large->status == 405);
  ASSERT_TRUE(client_.Get("/")) << "it goes on";
}

// A name that an attacker's page gave this address.
TEST_F(Serving, OnlyUnderItsOwnName) {
  for (const std::string& name :
       {std::string("evil.example"), text("evil.example:", server_.port()), std::string(),
        std::string("127.0.0.1"), text("127.0.0.1:", server_.port() + 1)}) {
    for (const char* path : {"/", "/document.json", "/events"}) {
      const auto answer = client_.Get(path, httplib::Headers{{"Host", name}});
      ASSERT_TRUE(answer) << name;
      EXPECT_EQ(answer->status, 403) << name << path;
      EXPECT_EQ(answer->body.find("runs"), std::string::npos);
    }
  }
  EXPECT_EQ(client_.Get("/", httplib::Headers{{"Host", text("localhost:", server_.port())}})->status, 200);
}

TEST_F(Serving, PagesAreToldWhatChanges) {
  std::atomic<bool> listening = false;
  std::string news;
  std::thread page([&] {
    httplib::Client client("127.0.0.1", server_.port());
    client.set_read_timeout(30);
    client.Get(
        "/events?after=1",
        [&](const httplib::Response& response) {
          EXPECT_EQ(response.get_header_value("Content-Type"), "text/event-stream");
          return listening = true;
        },
        [&](const char* data, size_t size) {
          news.append(data, size);
          return news.find("\n\n", news.find("event: run")) == std::string::npos;
        });
  });
  for (int wait = 0; wait < 1000 && !listening; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ofstream(folder_ / "ranking.json") << R"({"models": [], "percents": [], "proxies": []})";
  page.join();
  ASSERT_NE(news.find("event: run\ndata: "), std::string::npos) << news;
  const size_t begin = news.find("data: ") + 6;
  const Json event = Json::parse(news.substr(begin, news.find('\n', begin) - begin));
  EXPECT_EQ(event["place"], 0);
  EXPECT_EQ(event["run"]["kind"], "ranking");
  EXPECT_EQ(Json::parse(client_.Get("/document.json")->body)["runs"][0]["kind"], "ranking");
}

// What happened between the document and the first question for news is not lost.
TEST_F(Serving, NewsBeginWhereTheDocumentEnds) {
  const int64_t known = Json::parse(client_.Get("/document.json")->body)["change"];
  std::ofstream(folder_ / "ranking.json") << R"({"models": [], "percents": [], "proxies": []})";
  for (int wait = 0; wait < 1000 && Json::parse(client_.Get("/document.json")->body)["change"] == known;
       ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::string news;
  client_.set_read_timeout(5);
  client_.Get(text("/events?after=", known), [&](const char* data, size_t size) {
    news.append(data, size);
    return news.find("\n\n") == std::string::npos;
  });
  EXPECT_TRUE(news.starts_with("event: run\ndata: ")) << news;
}

TEST_F(Serving, TheDocumentIsMadeOnceForAllWhoAsk) {
  const RunWatch watch({folder_.path()}, "1.2.3");
  const auto first = watch.document();
  EXPECT_EQ(watch.document(), first);
  std::ofstream(folder_ / "ranking.json") << R"({"models": [], "percents": [], "proxies": []})";
  for (int wait = 0; wait < 1000 && watch.document() == first; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto second = watch.document();
  ASSERT_NE(second, first);
  EXPECT_EQ(Json::parse(*first)["change"], 1);
  EXPECT_EQ(Json::parse(*second)["change"], 2);
  EXPECT_EQ(Json::parse(*second)["runs"][0]["kind"], "ranking");
}

TEST_F(Serving, NotToPagesOfOtherSites) {
  for (const char* site : {"cross-site", "same-site"})
    EXPECT_EQ(client_.Get("/events", httplib::Headers{{"Sec-Fetch-Site", site}})->status, 403) << site;
  EXPECT_EQ(client_.Get("/", httplib::Headers{{"Sec-Fetch-Site", "none"}})->status, 200);
  EXPECT_EQ(client_.Get("/", httplib::Headers{{"Sec-Fetch-Site", "same-origin"}})->status, 200);
}

TEST_F(Serving, ManyListenersLeaveRoomForOthersAndItEndsAtOnce) {
  std::vector<std::thread> pages;
  std::atomic<int> refused = 0, heard = 0;
  for (int i = 0; i < 12; ++i)
    pages.emplace_back([&] {
      httplib::Client client("127.0.0.1", server_.port());
      client.set_read_timeout(30);
      client.Get(
          "/events",
          [&](const httplib::Response& response) {
            ++(response.status == 503 ? refused : heard);
            return true;
          },
          [](const char*, size_t) { return true; });
    });
  for (int wait = 0; wait < 1000 && refused + heard < 12; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(heard, 8);
  EXPECT_EQ(refused, 4);
  const auto page = client_.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  const auto begin = std::chrono::steady_clock::now();
  server_ = Server({folder_.path()}, "1.2.3", 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  for (std::thread& thread : pages) thread.join();
}

// A byte now and then, on more connections than there are threads: a request has a time in all.
TEST_F(Serving, DawdlersKeepNobodyWaitingForLong) {
  std::vector<int> dawdlers;
  for (int i = 0; i < 12; ++i) dawdlers.push_back(connected());
  std::atomic<bool> done = false;
  std::thread dawdling([&] {
    for (; !done; std::this_thread::sleep_for(std::chrono::milliseconds(200)))
      for (const int dawdler : dawdlers) send(dawdler, "G", 1, MSG_NOSIGNAL);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  client_.set_read_timeout(20);
  const auto begin = std::chrono::steady_clock::now();
  const auto page = client_.Get("/");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_TRUE(page);
  done = true;
  dawdling.join();
  for (const int dawdler : dawdlers) close(dawdler);
}

// One that says nothing at all is not waited for, though its time is not over.
TEST_F(Serving, TheEndEndsEveryConnection) {
  const int silent = connected();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  server_ = Server({folder_.path()}, "1.2.3", 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
  close(silent);
}

TEST_F(Serving, APortThatIsTakenIsTold) {
  try {
    const Server second({folder_.path()}, "1.2.3", server_.port());
    ADD_FAILURE() << "taken twice";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot be opened; give another with --port"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace heed::serve
