// The server: what it answers, to whom, and that pages are told what changes.
#include "heed/serve/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "heed/report/page.h"
#include "heed/serve/http_server.h"
#include "heed/serve/run_watch.h"
#include "tests/support/http_client.h"

namespace heed::serve {
namespace {

using test::HttpReply;
using test::Socket;
using namespace std::chrono_literals;

// Whether it became true within ten seconds.
bool comes_true(const std::function<bool()>& condition) {
  for (int wait = 0; wait < 1000; ++wait) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class Serving : public testing::Test {
 protected:
  HttpReply get(const std::string& path, const test::HttpHeaders& headers = {}) const {
    return test::ask(server_.port(), "GET", path, headers);
  }
  Json json(const std::string& path) const {
    const HttpReply reply = get(path);
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_EQ(reply.headers.at("content-type"), "application/json");
    return Json::parse(reply.body);
  }
  int64_t last_change() const { return json("/document.json")["change"]; }
  std::string own_name() const { return text("127.0.0.1:", server_.port()); }
  void make_a_ranking() const {
    std::ofstream(folder_ / "ranking.json") << R"({"models": [], "percents": [], "proxies": []})";
  }

  TemporaryFolder folder_;
  Server server_{{folder_.path()}, "1.2.3", 0};
};

TEST_F(Serving, ThePageAndTheDocument) {
  const HttpReply page = get("/");
  ASSERT_EQ(page.status, 200);
  EXPECT_TRUE(page.body == report::empty_page()) << page.body.size() << " bytes";
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_NE(page.headers.at("content-security-policy").find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.headers.at("cache-control"), "no-store");
  EXPECT_EQ(json("/document.json")["runs"][0]["kind"], "unreadable");
}

TEST_F(Serving, OnlyTheHeadersIfThatIsAsked) {
  const HttpReply head = test::ask(server_.port(), "HEAD", "/");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), text(report::empty_page().size()));
  EXPECT_EQ(head.body, "");
}

TEST_F(Serving, ManyRequestsOnOneConnection) {
  const Socket socket(server_.port());
  for (const char* path : {"/document.json", "/", "/none", "/document.json"}) {
    socket.send(test::request_text("GET", path, {{"Host", own_name()}}));
    EXPECT_EQ(test::reply_on(socket).status, path == std::string("/none") ? 404 : 200) << path;
  }
}

// The whole is sent, whatever part was asked for.
TEST_F(Serving, PartsAreNotServed) {
  const HttpReply page = get("/", {{"Range", "bytes=0-9"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body.size(), report::empty_page().size());
}

TEST_F(Serving, NothingElse) {
  for (const char* path : {"/x", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                           "/document.json/../heed.db", "//etc/passwd", "/changes/x"})
    EXPECT_EQ(get(path).status, 404) << path;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "ANYTHING"})
    EXPECT_EQ(test::ask(server_.port(), method, "/", {}, "hello").status, 405) << method;
  const HttpReply large = test::ask(server_.port(), "POST", "/", {}, std::string(1 << 20, 'x'));
  EXPECT_TRUE(large.status == 0 || large.status == 405) << large.status;  // it may end the connection first
  EXPECT_EQ(get("/").status, 200) << "it goes on";
}

// A name that an attacker's page gave this address.
TEST_F(Serving, OnlyUnderItsOwnName) {
  for (const std::string& name :
       {std::string("evil.example"), text("evil.example:", server_.port()), std::string(),
        std::string("127.0.0.1"), text("127.0.0.1:", server_.port() + 1)}) {
    for (const char* path : {"/", "/document.json", "/changes?after=0"}) {
      const HttpReply reply = get(path, {{"Host", name}});
      EXPECT_EQ(reply.status, 403) << name << path;
      EXPECT_EQ(reply.body.find("runs"), std::string::npos);
    }
  }
  EXPECT_EQ(get("/", {{"Host", text("localhost:", server_.port())}}).status, 200);
}

TEST_F(Serving, NotToPagesOfOtherSites) {
  for (const char* site : {"cross-site", "same-site"})
    EXPECT_EQ(get("/changes?after=0", {{"Sec-Fetch-Site", site}}).status, 403) << site;
  EXPECT_EQ(get("/", {{"Sec-Fetch-Site", "none"}}).status, 200);
  EXPECT_EQ(get("/", {{"Sec-Fetch-Site", "same-origin"}}).status, 200);
}

// What happened between the document and the first question for changes is not lost.
TEST_F(Serving, PagesAreToldWhatChanges) {
  const int64_t known = last_change();
  const std::string changes = text("/changes?after=", known);
  EXPECT_EQ(json(changes), Json({{"change", known}, {"runs", Json::array()}}));
  make_a_ranking();
  ASSERT_TRUE(comes_true([&] { return last_change() != known; }));
  const Json news = json(changes);
  EXPECT_EQ(news["change"], last_change());
  ASSERT_EQ(news["runs"].size(), 1);
  EXPECT_EQ(news["runs"][0]["place"], 0);
  EXPECT_EQ(news["runs"][0]["made"].get<std::string>().size(), std::string("2026-01-01 00:00:00").size());
  EXPECT_EQ(news["runs"][0]["run"]["kind"], "ranking");
  EXPECT_EQ(news["runs"][0]["run"], json("/document.json")["runs"][0]);
}

TEST_F(Serving, SeveralRunsAreOneDocumentAndOnlyChangedOnesAreChanges) {
  const TemporaryFolder first, second;
  const RunWatch watch({first.path(), second.path(), folder_.path()}, "1.2.3");
  const auto joined = [](const SharedText& parts) {
    std::string whole;
    for (const auto& part : parts) whole += *part;
    return Json::parse(whole);
  };
  const Json before = joined(watch.document());
  ASSERT_EQ(before["runs"].size(), 3);
  EXPECT_EQ(before["version"], "1.2.3");
  make_a_ranking();
  ASSERT_TRUE(comes_true([&] { return joined(watch.document())["runs"][2]["kind"] == "ranking"; }));
  const Json news = joined(*watch.changes_after(before["change"]));
  ASSERT_EQ(news["runs"].size(), 1);
  EXPECT_EQ(news["runs"][0]["place"], 2);
  std::ofstream(first / "ranking.json") << R"({"models": [], "percents": [], "proxies": []})";
  ASSERT_TRUE(comes_true([&] { return joined(*watch.changes_after(before["change"]))["runs"].size() == 2; }));
}

// A page that an earlier server, or none, told what it knows.
TEST_F(Serving, WhatIsNotKnownHereIsNotAnswered) {
  const int64_t known = last_change();
  for (const std::string& after : {std::string("?after=0"), std::string("?after=-1"), std::string("?after=x"),
                                   std::string(), std::string("?after=99999999999999999999999"),
                                   text("?after=", known - 1), text("?after=", known + 1)})
    EXPECT_EQ(get("/changes" + after).status, 410) << after;
  std::this_thread::sleep_for(2ms);
  server_ = Server({folder_.path()}, "1.2.3", 0);
  EXPECT_EQ(get(text("/changes?after=", known)).status, 410);
  EXPECT_GT(last_change(), known);
}

TEST_F(Serving, TheDocumentIsMadeOnceForAllWhoAsk) {
  const TemporaryFolder other;
  const RunWatch watch({folder_.path(), other.path()}, "1.2.3");
  const SharedText first = watch.document();
  EXPECT_EQ(watch.document(), first);
  make_a_ranking();
  ASSERT_TRUE(comes_true([&] { return watch.document() != first; }));
  const SharedText second = watch.document();
  EXPECT_NE(second[1], first[1]);
  EXPECT_EQ(second[3], first[3]) << "what has not changed is not made again";
}

TEST_F(Serving, TheEndEndsEveryConnection) {
  const Socket silent(server_.port()), begun(server_.port());
  begun.send("GET / HT");
  std::this_thread::sleep_for(100ms);
  const auto begin = std::chrono::steady_clock::now();
  server_ = Server({folder_.path()}, "1.2.3", 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1500ms);
  EXPECT_TRUE(silent.ended());
  EXPECT_TRUE(begun.ended());
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

// A server that begins where one has ended: its connections are not gone yet.
TEST_F(Serving, APortThatWasLeftCanBeTaken) {
  const Socket page(server_.port());
  page.send(test::request_text("GET", "/document.json", {{"Host", own_name()}}));
  EXPECT_EQ(test::reply_on(page).status, 200);
  const int port = server_.port();
  server_ = Server({folder_.path()}, "1.2.3", 0);
  EXPECT_NO_THROW(server_ = Server({folder_.path()}, "1.2.3", port));
}

TEST(HttpServer, AHandlerThatFailsIsAnAnswer) {
  const HttpServer server(0, {}, [](const HttpRequest& request) -> HttpAnswer {
    if (request.path == "/fails") throw std::bad_alloc();
    return {200, "text/plain", {}};
  });
  EXPECT_EQ(test::ask(server.port(), "GET", "/fails").status, 500);
  const HttpReply empty = test::ask(server.port(), "GET", "/");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.body, "");
}

// Also one that says something all the time.
TEST(HttpServer, ARequestHasSoMuchTimeInAll) {
  const HttpServer server(
      0, {}, [](const HttpRequest&) -> HttpAnswer { return {}; }, 400ms);
  const std::string request = test::request_text("GET", "/", {{"Host", "x"}});
  const Socket silent(server.port()), dawdler(server.port()), page(server.port());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30 && !dawdler.ended(); ++i, std::this_thread::sleep_for(20ms)) {
    dawdler.send("G");
    page.send(request);
    EXPECT_EQ(test::reply_on(page).status, 200) << "it asks again in time";
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 400ms);
  EXPECT_TRUE(dawdler.ended());
  EXPECT_TRUE(silent.ended());
  EXPECT_TRUE(comes_true([&] { return page.ended(); }));
}

TEST(HttpServer, ABodyOfManyParts) {
  std::string whole;
  const auto parts = std::make_shared<std::vector<std::string>>();
  for (size_t size : {1, 0, 16 << 10, 100000, 3, 0})
    whole += parts->emplace_back(size, static_cast<char>('a' + parts->size()));
  const HttpServer server(0, {}, [&](const HttpRequest&) {
    HttpAnswer answer;
    for (const std::string& part : *parts) answer.body.push_back({part, parts});
    return answer;
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(test::ask(server.port(), "GET", "/").body == whole);
  EXPECT_TRUE(comes_true([&] { return parts.use_count() == 1; })) << "what was sent is not kept";
}

}  // namespace
}  // namespace heed::serve
