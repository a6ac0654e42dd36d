#include "heed/serve/server.h"

#include <atomic>
#include <thread>

#include "heed/base/error.h"
#include "heed/report/page.h"
#include "heed/serve/connections.h"
#include "heed/serve/run_watch.h"

namespace heed::serve {
namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr int kListeners = 8;  // pages that wait for changes at once
constexpr int kThreads = 4 + kListeners;
constexpr double kHeartbeat = 10;  // seconds: a closed page is noticed by then
// What a page may do: run its own script, ask this server, and nothing else.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

struct Server::Parts {
  Parts(const std::vector<std::filesystem::path>& runs, const std::string& version) : watch(runs, version) {}

  ~Parts() {
    stopping = true;
    watch.stop();
    http.end_connections();
    http.stop();
    if (thread.joinable()) thread.join();
  }

  void set_up() {
    http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // Not the library's SO_REUSEPORT: with it two servers have one port.
    http.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http.set_tcp_nodelay(true);  // small parts of an answer do not wait for each other
    http.set_payload_max_length(1024);
    http.set_default_headers({{"Content-Security-Policy", kPolicy},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Cache-Control", "no-store"}});
    http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return refused(request, response) ? httplib::Server::HandlerResponse::Handled
                                        : httplib::Server::HandlerResponse::Unhandled;
    });
    http.Get("/", [](const httplib::Request&, httplib::Response& response) {
      const std::string_view page = report::empty_page();
      response.set_content(page.data(), page.size(), "text/html; charset=utf-8");
    });
    http.Get("/document.json", [this](const httplib::Request&, httplib::Response& response) {
      const auto document = watch.document();
      response.set_content_provider(document->size(), "application/json",
                                    [document](size_t begin, size_t size, httplib::DataSink& sink) {
                                      return sink.write(document->data() + begin, size);
                                    });
    });
    http.Get("/events", [this](const httplib::Request& request, httplib::Response& response) {
      listen(std::strtoll(request.get_param_value("after").c_str(), nullptr, 10), response);
    });
  }

  // A page of another site can send a browser here under its own host name (DNS rebinding); it is refused.
  bool refused(const httplib::Request& request, httplib::Response& response) const {
    const std::string host = request.get_header_value("Host"), here = text(":", port);
    const bool known = host == kHost + here || host == "localhost" + here ||
                       (port == 80 && (host == kHost || host == "localhost"));
    // Browsers send this header when the requesting page is from another site.
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    const bool own = known && site != "cross-site" && site != "same-site";
    const bool asks = request.method == "GET" || request.method == "HEAD";
    if (own && asks) return false;
    response.status = own ? 405 : 403;
    response.set_content(own ? "only GET is answered\n" : "this is not served to others\n", "text/plain");
    return true;
  }

  // The changes after that number, then every later one.
  void listen(int64_t after, httplib::Response& response) {
    if (++listeners > kListeners) {
      --listeners;
      response.status = 503;
      response.set_content("too many pages are open; close one\n", "text/plain");
      return;
    }
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, seen = after](size_t, httplib::DataSink& sink) mutable {
          const auto changes = watch.changes_after(seen, kHeartbeat);
          if (stopping || !sink.is_writable()) return false;
          std::string news = changes.empty() ? ":\n\n" : "";
          for (const RunWatch::Change& change : changes) {
            news += text("event: run\ndata: {\"place\":", change.place, ",\"made\":\"", change.made,
                         "\",\"run\":", *change.run, "}\n\n");
            seen = change.number;
          }
          return sink.write(news.data(), news.size());
        },
        [this](bool) { --listeners; });
  }

  RunWatch watch;
  HeldServer http;
  std::thread thread;
  int port = 0;
  std::atomic<int> listeners = 0;
  std::atomic<bool> stopping = false;
};

Server::Server(const std::vector<std::filesystem::path>& runs, const std::string& version, int port)
    : parts_(std::make_unique<Parts>(runs, version)) {
  Parts& p = *parts_;
  p.set_up();
  if (port == 0) {
    p.port = p.http.bind_to_any_port(kHost);
  } else if (p.http.bind_to_port(kHost, port)) {
    p.port = port;
  }
  if (p.port <= 0)
    throw system_error("port ", port, " of ", kHost,
                       " cannot be opened; give another with --port, or 0 for any");
  p.thread = std::thread([&p] { p.http.listen_after_bind(); });
  while (!p.http.is_running()) std::this_thread::yield();
}

Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

int Server::port() const { return parts_->port; }

}  // namespace heed::serve
