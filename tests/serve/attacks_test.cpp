// What clients can do to the server. Throughout, a reader is answered within a second, and memory stays flat.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "tests/support/command.h"
#include "tests/support/http_client.h"

namespace heed::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLongestAnswer = 1000ms;
constexpr int64_t kMostGrowth = 32 << 20;  // bytes
constexpr size_t kDocument = 1 << 20;      // bytes, at least

// `heed serve` as a process of its own, with a run whose document is large.
class ServeProcess {
 public:
  // `before` is for the shell that becomes the server.
  explicit ServeProcess(const std::string& before = "") {
    write_run("first");
    const std::string out = (folder_ / "out").string();
    child_.emplace("serve " + (folder_ / "run").string() + " --port 0", out, before);
    std::string said;
    for (int wait = 0; wait < 1000 && said.find('\n') == std::string::npos; ++wait) {
      std::this_thread::sleep_for(10ms);
      std::ifstream in(out);
      std::getline(in, said, '\0');
    }
    if (!said.starts_with("http://127.0.0.1:")) {
      child_->send(SIGKILL);
      throw system_error("no server: ", said);
    }
    port_ = std::stoi(said.substr(17));
  }
  ~ServeProcess() {
    child_->send(SIGINT);
    EXPECT_EQ(child_->status(), 0);
  }

  int port() const { return port_; }
  void write_run(const std::string& name) const {
    std::filesystem::create_directories(folder_ / "run");
    const Json models = Json::array({name, std::string(kDocument, 'm')});
    std::ofstream(folder_ / "run.json")
        << Json({{"models", models}, {"percents", Json::array()}, {"proxies", Json::array()}});
    std::filesystem::rename(folder_ / "run.json", folder_ / "run" / "ranking.json");
  }
  // Writes another run and waits until it is told.
  bool changed(const std::string& name) const {
    write_run(name);
    for (int wait = 0; wait < 500; ++wait, std::this_thread::sleep_for(10ms)) {
      if (get("/document.json").body.find(text("[\"", name, "\"")) != std::string::npos) return true;
    }
    return false;
  }
  HttpReply get(const std::string& path) const { return ask(port_, "GET", path); }
  std::string request(const std::string& path, HttpHeaders headers = {}) const {
    headers.try_emplace("Host", text("127.0.0.1:", port_));
    return request_text("GET", path, headers);
  }

  void forget_peak_memory() const { std::ofstream(proc("clear_refs")) << 5; }
  int64_t peak_memory() const {
    std::ifstream file(proc("status"));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));
    }
    throw system_error("the server has ended");
  }
  double cpu_seconds() const {
    std::ifstream file(proc("stat"));
    std::string word;
    long user = 0, system = 0;
    for (int i = 0; i < 13; ++i) file >> word;
    file >> user >> system;
    return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

  size_t descriptors() const {
    using Files = std::filesystem::directory_iterator;
    return static_cast<size_t>(std::distance(Files(proc("fd")), Files()));
  }
  void limit_descriptors(size_t most) {
    const rlimit limit{most, 1024};
    ASSERT_EQ(prlimit(child_->pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  }

 private:
  std::string proc(const char* name) const { return text("/proc/", child_->pid(), "/", name); }

  TemporaryFolder folder_;
  std::optional<Child> child_;
  int port_ = 0;
};

// A well-behaved reader that asks for the document all the time, on a new connection and on the same one.
class Reader {
 public:
  explicit Reader(int port) : port_(port), thread_([this] { read(); }) {}
  ~Reader() { stop(); }
  void stop() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<int> answers = 0, failures = 0;
  std::atomic<Clock::duration> longest = Clock::duration(0);

 private:
  void read() {
    const auto timed = [&](const auto& get) {
      const auto begin = Clock::now();
      HttpReply reply;
      try {
        reply = get();
      } catch (const std::exception&) {
      }
      longest = std::max(longest.load(), Clock::now() - begin);
      ++(reply.status == 200 && reply.body.size() >= kDocument ? answers : failures);
    };
    const std::string request = request_text("GET", "/document.json", {{"Host", text("127.0.0.1:", port_)}});
    Socket kept(port_);
    do {
      timed([&] { return ask(port_, "GET", "/document.json"); });
      timed([&] {
        kept.send(request);
        const HttpReply reply = reply_on(kept);
        if (reply.status != 0) return reply;
        kept = Socket(port_);  // it was ended; so does a browser
        kept.send(request);
        return reply_on(kept);
      });
      std::this_thread::sleep_for(20ms);
    } while (!done_);
  }

  const int port_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

class Attacks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    rlimit descriptors{};
    getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 4096);
    setrlimit(RLIMIT_NOFILE, &descriptors);
    server_.emplace("ulimit -n 1024");
    for (int i = 0; i < 20; ++i) server_->get("/"), server_->get("/document.json");
    EXPECT_TRUE(server_->changed("second"));
    server_->forget_peak_memory();
    memory_ = server_->peak_memory();
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    server_->forget_peak_memory();
    reader_.emplace(server_->port());
  }
  void TearDown() override {
    reader_->stop();
    EXPECT_EQ(reader_->failures, 0);
    EXPECT_GE(reader_->answers, 2);
    EXPECT_LT(reader_->longest.load(), kLongestAnswer);
#ifndef HEED_SANITIZED  // which keep memory that was freed
    EXPECT_LE(server_->peak_memory() - memory_, kMostGrowth);
#endif
    RecordProperty(
        "longest_ms",
        static_cast<int>(
            std::chrono::duration_cast<std::chrono::milliseconds>(reader_->longest.load()).count()));
    RecordProperty("growth_kib", static_cast<int>((server_->peak_memory() - memory_) / 1024));
  }

  static const ServeProcess& server() { return *server_; }
  static std::vector<Socket> sockets(size_t count) {
    std::vector<Socket> some;
    for (size_t i = 0; i < count; ++i) some.emplace_back(server_->port());
    return some;
  }

 private:
  inline static std::optional<ServeProcess> server_;
  inline static int64_t memory_ = 0;
  std::optional<Reader> reader_;
};

void at_once(int count, const std::function<void(int)>& client) {
  std::vector<std::thread> clients;
  for (int i = 0; i < count; ++i) clients.emplace_back([&client, i] { EXPECT_NO_THROW(client(i)); });
  for (std::thread& one : clients) one.join();
}

TEST_F(Attacks, ManyRanges) {
  std::string repeated = text("GET / HTTP/1.1\r\nHost: 127.0.0.1:", server().port(), "\r\n");
  std::string list = "bytes=0-";
  for (int i = 1; i < 2600; ++i) repeated += "Range: bytes=0-\r\n", list += ",0-";
  repeated += "\r\n";
  at_once(6, [&](int) {
    for (int round = 0; round < 5; ++round) {
      const Socket socket(server().port());
      socket.send(repeated);
      const int status = reply_on(socket).status;
      EXPECT_TRUE(status == 431 || status == 0) << status;  // it may end the connection first
      const HttpReply page = ask(server().port(), "GET", "/", {{"Range", list}});
      EXPECT_EQ(page.status, 200);
      EXPECT_LT(page.body.size(), 2 * kDocument);
    }
  });
}

TEST_F(Attacks, IdleSockets) {
  const Socket page(server().port());
  page.send(server().request("/changes"));
  EXPECT_EQ(reply_on(page).status, 410);
  const auto idle = sockets(900);
  std::this_thread::sleep_for(1s);
  EXPECT_GE(std::ranges::count_if(idle, &Socket::ended), 500) << "room was made";
  EXPECT_FALSE(idle.back().ended());
  EXPECT_FALSE(page.ended()) << "it has asked something";
}

TEST_F(Attacks, IdleSocketsThatAskedOnce) {
  std::vector<Socket> idle;
  for (int i = 0; i < 900; ++i) {
    idle.emplace_back(server().port());
    idle.back().send(server().request("/changes"));
    EXPECT_EQ(reply_on(idle.back()).status, 410);
  }
  EXPECT_TRUE(idle.front().ended());
  EXPECT_FALSE(idle.back().ended());
}

TEST_F(Attacks, Dawdlers) {
  const auto dawdlers = sockets(300);
  const std::string request = server().request("/");
  for (size_t at = 0; at < 3; ++at, std::this_thread::sleep_for(1s))
    for (const Socket& dawdler : dawdlers) dawdler.send(request.substr(at, 1));
}

TEST_F(Attacks, LongHeaders) {
  const std::string eight(8 << 10, 'h');
  const auto held = sockets(500);
  for (const Socket& one : held) one.send("GET / HTTP/1.1\r\nX: " + eight);
  at_once(4, [&](int) {
    for (int round = 0; round < 50; ++round) {
      EXPECT_EQ(ask(server().port(), "GET", "/changes", {{"X", eight}}).status, 410);
      const int status = ask(server().port(), "GET", "/", {{"X", eight}, {"Y", eight}, {"Z", eight}}).status;
      EXPECT_TRUE(status == 431 || status == 0) << status;
      const int address = ask(server().port(), "GET", "/" + eight + eight + eight).status;
      EXPECT_TRUE(address == 414 || address == 0) << address;
    }
  });
}

TEST_F(Attacks, LargeBodies) {
  const std::string own_name = text("127.0.0.1:", server().port()), megabyte(1 << 20, 'b');
  at_once(8, [&](int client) {
    const bool chunked = client % 2, get = client < 2, sends = client >= 4;  // the others only announce it
    HttpHeaders headers = {{"Host", own_name}};
    chunked ? headers["Transfer-Encoding"] = "chunked" : headers["Content-Length"] = text(100 << 20);
    const std::string part = chunked ? text("100000\r\n", megabyte, "\r\n") : megabyte;
    for (int round = 0; round < 10; ++round) {
      const Socket socket(server().port());
      socket.send(request_text(get ? "GET" : "POST", "/document.json", headers));
      int sent = 0;
      while (sends && sent < 100 && socket.send(part)) ++sent;
      EXPECT_LT(sent, 10) << "nobody wants it";
      const int status = reply_on(socket).status;
      EXPECT_TRUE(status == (get ? 200 : 405) || (sends && status == 0)) << status;
    }
  });
}

TEST_F(Attacks, RandomRequests) {
  std::mt19937 random(17);
  const std::string beginnings[] = {"",
                                    "GET ",
                                    "GET / HTTP/1.1\r\n",
                                    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                                    "GET /changes?after=",
                                    "HEAD /%"};
  std::string bytes(300, '\0');
  for (int i = 0; i < 10000; ++i) {
    for (char& byte : bytes) byte = static_cast<char>(random());
    const std::string& beginning = beginnings[random() % std::size(beginnings)];
    Socket(server().port())
        .send(beginning + bytes.substr(0, 1 + random() % bytes.size()) + (random() % 2 ? "\r\n\r\n" : ""));
  }
}

// Many documents at once that nobody takes, and many changes.
TEST_F(Attacks, WhoDoesNotTakeTheAnswer) {
  const int64_t known = Json::parse(server().get("/document.json").body)["change"];
  const auto silent = sockets(390);
  for (int round = 0; round < 4; ++round) {
    EXPECT_TRUE(server().changed(text("round ", round)));
    for (size_t i = static_cast<size_t>(round); i < silent.size(); i += 4)
      silent[i].send(server().request(i % 8 < 4 ? "/document.json" : text("/changes?after=", known)));
  }
}

TEST_F(Attacks, ManyTabs) {
  const int64_t known = Json::parse(server().get("/document.json").body)["change"];
  std::atomic<int> told = 0;
  at_once(20, [&](int page) {
    if (page == 0) std::this_thread::sleep_for(300ms), server().write_run("new");
    const Socket socket(server().port());
    for (int polls = 0; polls < 200; ++polls) {
      socket.send(server().request(text("/changes?after=", known)));
      const HttpReply reply = reply_on(socket);
      ASSERT_EQ(reply.status, 200);
      if (Json::parse(reply.body)["runs"].size() == 1) {
        ++told;
        return;
      }
      std::this_thread::sleep_for(20ms);
    }
  });
  EXPECT_EQ(told, 20);
}

// More connections than the server may have files: there is room for one more, and for reading runs.
TEST(FewDescriptors, AreNotAllTakenByConnections) {
  const ServeProcess server("ulimit -n 60");
  std::vector<Socket> idle;
  for (int i = 0; i < 200; ++i) idle.emplace_back(server.port());
  EXPECT_EQ(server.get("/").status, 200);
  EXPECT_LT(server.descriptors(), 45) << "the others are for runs";
  Reader reader(server.port());
  EXPECT_TRUE(server.changed("new"));
  reader.stop();
  EXPECT_EQ(reader.failures, 0);
  EXPECT_LT(reader.longest.load(), kLongestAnswer);
}

// Accepting fails: by its own fault, or because others have every file of the machine.
TEST(FewDescriptors, NoneAtAllIsWaitedForWithoutHaste) {
  ServeProcess server;
  server.limit_descriptors(3);
  const Socket waiting(server.port());
  waiting.send(server.request("/"));
  const double before = server.cpu_seconds();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(server.cpu_seconds() - before, 0.1);
  server.limit_descriptors(1024);
  const auto begin = Clock::now();
  EXPECT_EQ(reply_on(waiting).status, 200);
  EXPECT_LT(Clock::now() - begin, kLongestAnswer);
}

TEST(FewDescriptors, TheConnectionThatWasUsedLongestAgoMakesRoom) {
  ServeProcess server;
  std::vector<Socket> idle;
  for (int i = 0; i < 5; ++i) idle.emplace_back(server.port());
  EXPECT_EQ(server.get("/").status, 200);
  server.limit_descriptors(server.descriptors());
  EXPECT_EQ(server.get("/").status, 200);
  EXPECT_TRUE(idle.front().ended());
  EXPECT_FALSE(idle.back().ended());
}

}  // namespace
}  // namespace heed::test
