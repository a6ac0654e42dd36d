#include "heed/serve/server.h"

#include <cstdlib>

#include "heed/base/error.h"
#include "heed/report/page.h"
#include "heed/serve/http_server.h"
#include "heed/serve/run_watch.h"

namespace heed::serve {
namespace {

// What a page may do: run its own script, ask this server, and nothing else.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

HttpServer::Headers headers() {
  return {{"Content-Security-Policy", kPolicy},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

// A page of another site can send a browser here under its own host name (DNS rebinding); it is refused.
bool from_here(const HttpRequest& request, int port) {
  const std::string host = request.header("Host");
  // Browsers send this header when the requesting page is from another site.
  const std::string site = request.header("Sec-Fetch-Site");
  for (const char* name : {"127.0.0.1", "localhost"}) {
    if (host == text(name, ":", port) || (port == 80 && host == name))
      return site != "cross-site" && site != "same-site";
  }
  return false;
}

HttpAnswer json(const SharedText& text) {
  HttpAnswer answer = {200, "application/json", {}};
  for (const auto& part : text) answer.body.push_back({*part, part});
  return answer;
}

HttpAnswer refused(int status, const char* reason) { return {status, "text/plain", {{reason}}}; }

}  // namespace

struct Server::Parts {
  Parts(const std::vector<std::filesystem::path>& runs, const std::string& version, int port)
      : watch(runs, version),
        http(port, headers(), [this](const HttpRequest& request) { return answer(request); }) {}

  HttpAnswer answer(const HttpRequest& request) const {
    if (!from_here(request, http.port())) return refused(403, "this is not served to others\n");
    if (request.method != "GET" && request.method != "HEAD") return refused(405, "only GET is answered\n");
    if (request.path == "/") return {200, "text/html; charset=utf-8", {{report::empty_page()}}};
    if (request.path == "/document.json") return json(watch.document());
    if (request.path == "/changes") return changes_after(request.query("after"));
    return refused(404, "there is nothing under this address\n");
  }

  HttpAnswer changes_after(const std::string& number) const {
    const auto changes = watch.changes_after(std::strtoll(number.c_str(), nullptr, 10));
    return changes ? json(*changes) : refused(410, "this is not known here; ask for the document again\n");
  }

  RunWatch watch;
  HttpServer http;
};

Server::Server(const std::vector<std::filesystem::path>& runs, const std::string& version, int port)
    : parts_(std::make_unique<Parts>(runs, version, port)) {}

Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

int Server::port() const { return parts_->http.port(); }

}  // namespace heed::serve
