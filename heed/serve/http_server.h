// HTTP/1.1 on the loopback device, by libmicrohttpd: one thread for all connections, so that no client,
// however slow, keeps another one waiting.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct MHD_Connection;

namespace heed::serve {

class HttpRequest {
 public:
  std::string_view method, path;
  std::string header(const char* name) const;  // "" if there is none
  std::string query(const char* name) const;   // the same of ?name=value

  HttpRequest(std::string_view asked_method, std::string_view asked_path, MHD_Connection* connection)
      : method(asked_method), path(asked_path), connection_(connection) {}

 private:
  MHD_Connection* connection_;
};

// Bytes of a body. Answers share them, so that a thousand slow clients hold one document in memory, not a
// thousand.
struct HttpPart {
  std::string_view bytes;
  std::shared_ptr<const void> owner =
      nullptr;  // keeps the bytes until they are sent; none if they are constant
};

struct HttpAnswer {
  int status = 200;
  const char* type = "text/plain";
  std::vector<HttpPart> body;  // one after the other
};

class HttpServer {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // Opens the port of 127.0.0.1, 0 for any free one, and starts to answer, always on the same thread; every
  // answer has these headers. A connection has `patience` for a request and its answer, and for the next
  // request: no byte extends it. Throws if the port is in use.
  HttpServer(int port, Headers headers, Handler handler,
             std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~HttpServer();  // ends all connections
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }  // the handler may ask, too

 private:
  class Loop;
  int port_ = 0;
  std::unique_ptr<Loop> loop_;
};

std::string http_library_version();  // of libmicrohttpd that heed was built with

}  // namespace heed::serve
