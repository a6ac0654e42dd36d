// A small HTTP client that says exactly what a test wants to be said, on sockets that a test can hold and
// misuse.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/error.h"

namespace heed::test {

// A connection to a port of this machine; receiving gives up after some seconds.
class Socket {
 public:
  explicit Socket(int port, int seconds = 20) : number_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{seconds, 0};
    setsockopt(number_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(number_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (number_ < 0 || connect(number_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw system_error("no connection to port ", port);
  }
  ~Socket() {
    if (number_ >= 0) close(number_);
  }
  Socket(Socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Socket& operator=(Socket&& other) noexcept { return std::swap(number_, other.number_), *this; }

  int number() const { return number_; }
  // Whether all of it was taken.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(number_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Appends what there is, after waiting for it; false at the end.
  bool receive(std::string& to) const {
    char part[16 << 10];
    const ssize_t size = recv(number_, part, sizeof part, 0);
    if (size > 0) to.append(part, static_cast<size_t>(size));
    return size > 0;
  }
  // Whether the other side has ended it.
  bool ended() const {
    char part[16 << 10];
    ssize_t size;
    while ((size = recv(number_, part, sizeof part, MSG_DONTWAIT)) > 0) {
    }
    return size == 0 || errno != EAGAIN;
  }

 private:
  int number_;
};

struct HttpReply {
  int status = 0;                              // 0: none came
  std::map<std::string, std::string> headers;  // by name in small letters
  std::string body;
};

// What came back for a request, framed by its Content-Length.
inline HttpReply reply_on(const Socket& socket, std::string_view method = "GET") {
  std::string bytes;
  size_t end;
  while ((end = bytes.find("\r\n\r\n")) == std::string::npos) {
    if (!socket.receive(bytes)) return {};
  }
  if (!bytes.starts_with("HTTP/1.")) return {};
  HttpReply reply;
  reply.status = std::stoi(bytes.substr(9));
  for (size_t line = bytes.find("\r\n") + 2; line < end + 2;) {
    const size_t next = bytes.find("\r\n", line), colon = bytes.find(':', line);
    std::string name = bytes.substr(line, colon - line);
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    reply.headers[name] = bytes.substr(colon + 2, next - colon - 2);
    line = next + 2;
  }
  reply.body = bytes.substr(end + 4);
  const std::string length = reply.headers["content-length"];
  if (method == "HEAD") return reply;
  while (length.empty() || reply.body.size() < std::stoul(length)) {
    if (!socket.receive(reply.body)) return length.empty() ? reply : HttpReply{};
  }
  return reply;
}

using HttpHeaders = std::map<std::string, std::string>;

inline std::string request_text(std::string_view method, std::string_view path, const HttpHeaders& headers,
                                std::string_view body = "") {
  std::string request = text(method, " ", path, " HTTP/1.1\r\n");
  for (const auto& [name, value] : headers) request += text(name, ": ", value, "\r\n");
  return text(request, "\r\n", body);
}

// Each request on a connection of its own, under the server's own name if no other is given.
inline HttpReply ask(int port, std::string_view method, std::string_view path, HttpHeaders headers = {},
                     std::string_view body = "") {
  headers.try_emplace("Host", text("127.0.0.1:", port));
  if (!body.empty()) headers.try_emplace("Content-Length", text(body.size()));
  const Socket socket(port);
  socket.send(request_text(method, path, headers, body));
  return reply_on(socket, method);
}

}  // namespace heed::test
