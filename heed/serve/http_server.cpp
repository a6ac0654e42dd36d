#include "heed/serve/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <list>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/shared_library.h"
#include "heed/base/system_error.h"

namespace heed::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kHost = "127.0.0.1";
// More connections than this, and the one that was used longest ago is ended: whoever holds many without a
// word ends his own.
constexpr rlim_t kMostConnections = 400;
constexpr int kAcceptedAtOnce = 16;
constexpr int kSocketBuffer = 64 << 10;     // bytes: clients that take no answer fill it
constexpr auto kPause = milliseconds(100);  // if no connection can be accepted
constexpr size_t kMostHeaders = 16 << 10;   // bytes of a request, and of the headers of its answer
constexpr size_t kBlock = 16 << 10;         // bytes of a body that are sent at once

#define HEED_MICROHTTPD(name) \
  decltype(&MHD_##name) name = library.function<decltype(MHD_##name)>("MHD_" #name)
struct Microhttpd {
  SharedLibrary library{HEED_MICROHTTPD_SONAME};
  HEED_MICROHTTPD(start_daemon);
  HEED_MICROHTTPD(run);
  HEED_MICROHTTPD(get_timeout);
  HEED_MICROHTTPD(stop_daemon);
  HEED_MICROHTTPD(get_daemon_info);
  HEED_MICROHTTPD(add_connection);
  HEED_MICROHTTPD(get_connection_info);
  HEED_MICROHTTPD(lookup_connection_value);
  HEED_MICROHTTPD(create_response_from_callback);
  HEED_MICROHTTPD(add_response_header);
  HEED_MICROHTTPD(queue_response);
  HEED_MICROHTTPD(destroy_response);
};
#undef HEED_MICROHTTPD

const Microhttpd& microhttpd() {
  static const Microhttpd loaded;
  return loaded;
}

std::string value_of(MHD_Connection* connection, MHD_ValueKind kind, const char* name) {
  const char* value = microhttpd().lookup_connection_value(connection, kind, name);
  return value ? value : "";
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int operator*() const { return number_; }

 private:
  int number_;
};

// What the library reads a body from, block by block.
class BodyReader {
 public:
  explicit BodyReader(std::vector<HttpPart> parts) : parts_(std::move(parts)) {}

  size_t size() const {
    size_t bytes = 0;
    for (const HttpPart& part : parts_) bytes += part.bytes.size();
    return bytes;
  }
  size_t read(char* to, size_t room) {
    size_t given = 0;
    while (given < room && at_ < parts_.size()) {
      std::string_view& left = parts_[at_].bytes;
      const size_t count = left.copy(to + given, room - given);
      given += count;
      left.remove_prefix(count);
      if (left.empty()) ++at_;
    }
    return given;
  }

 private:
  std::vector<HttpPart> parts_;  // without what was read
  size_t at_ = 0;
};

}  // namespace

std::string HttpRequest::header(const char* name) const {
  return value_of(connection_, MHD_HEADER_KIND, name);
}
std::string HttpRequest::query(const char* name) const {
  return value_of(connection_, MHD_GET_ARGUMENT_KIND, name);
}

// The library has its own way to accept connections, but would be busy waiting for a file descriptor if there
// is none, and tells of no connection that takes too long. So connections are accepted here.
class HttpServer::Loop {
 public:
  Loop(int port, Headers headers, Handler handler, milliseconds patience);
  ~Loop();

  int port() const;
  void start() { thread_ = std::thread(&Loop::run, this); }

 private:
  struct Client;
  using Clients = std::list<Client>;  // the one that was used longest ago first
  struct Client {
    int socket;
    Clock::time_point since;  // when it came, or its last request
    Clients* in;
    Clients::iterator here = {};
  };

  void run();
  void accept_some();
  void end_longest_unused();
  void end_overdue(Clients& clients);
  static void end(Client& client);
  static void move(Client& client, Clients& to);
  int milliseconds_to_wait() const;
  MHD_Result answer(MHD_Connection* connection, const HttpRequest& request) const;
  static Client* client_of(MHD_Connection* connection);
  static void begun_or_ended(void* self, MHD_Connection*, void** client, MHD_ConnectionNotificationCode);
  static MHD_Result asked(void* self, MHD_Connection*, const char* path, const char* method,
                          const char* version, const char* data, size_t* size, void** seen);

  const Headers headers_;
  const Handler handler_;
  const milliseconds patience_;
  size_t most_connections_;
  Descriptor listener_, stop_;
  Clients strangers_, known_;  // who has asked nothing yet, and who has
  Clock::time_point pause_end_{};
  MHD_Daemon* daemon_ = nullptr;
  std::thread thread_;
};

HttpServer::Loop::Loop(int port, Headers headers, Handler handler, milliseconds patience)
    : headers_(std::move(headers)),
      handler_(std::move(handler)),
      patience_(patience),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  if (*listener_ < 0 || *stop_ < 0) throw system_error("serve: ", system_reason(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, kHost, &address.sin_addr);
  // A server can follow one that has just ended; two at once still cannot have one port.
  const int yes = 1;
  setsockopt(*listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  // Those of its connections, too.
  setsockopt(*listener_, SOL_SOCKET, SO_SNDBUF, &kSocketBuffer, sizeof kSocketBuffer);
  setsockopt(*listener_, SOL_SOCKET, SO_RCVBUF, &kSocketBuffer, sizeof kSocketBuffer);
  if (bind(*listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(*listener_, SOMAXCONN) != 0)
    throw system_error("port ", port, " of ", kHost,
                       " cannot be opened; give another with --port, or 0 for any");
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  most_connections_ = std::min(kMostConnections, descriptors.rlim_cur / 2);  // runs are read with the others
  daemon_ = microhttpd().start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, nullptr, nullptr,
                                      &Loop::asked, this, MHD_OPTION_NOTIFY_CONNECTION, &Loop::begun_or_ended,
                                      this, MHD_OPTION_CONNECTION_LIMIT,
                                      static_cast<unsigned>(most_connections_ + 2 * kAcceptedAtOnce),
                                      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMostHeaders, MHD_OPTION_END);
  if (!daemon_) throw system_error("serve: libmicrohttpd does not start");
}

HttpServer::Loop::~Loop() {
  if (thread_.joinable()) {
    eventfd_write(*stop_, 1);
    thread_.join();
  }
  if (daemon_) microhttpd().stop_daemon(daemon_);
}

int HttpServer::Loop::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(*listener_, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void HttpServer::Loop::run() {
  const int events = microhttpd().get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  for (;;) {
    const bool accepting = Clock::now() >= pause_end_;
    pollfd ready[] = {{*stop_, POLLIN, 0}, {events, POLLIN, 0}, {accepting ? *listener_ : -1, POLLIN, 0}};
    poll(ready, std::size(ready), milliseconds_to_wait());
    if (ready[0].revents) return;
    if (ready[2].revents) accept_some();
    end_overdue(strangers_);
    end_overdue(known_);
    microhttpd().run(daemon_);
  }
}

int HttpServer::Loop::milliseconds_to_wait() const {
  MHD_UNSIGNED_LONG_LONG library_waits = 0;
  if (microhttpd().get_timeout(daemon_, &library_waits) == MHD_YES && library_waits == 0) return 0;
  const auto now = Clock::now();
  Clock::duration wait = patience_;
  for (const Clients* clients : {&strangers_, &known_})
    if (!clients->empty()) wait = std::min(wait, clients->front().since + patience_ - now);
  if (pause_end_ > now) wait = std::min(wait, pause_end_ - now);
  return static_cast<int>(std::chrono::ceil<milliseconds>(std::max(wait, Clock::duration(0))).count());
}

void HttpServer::Loop::accept_some() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    const int socket =
        accept4(*listener_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      if (strangers_.size() + known_.size() >= most_connections_) end_longest_unused();
      microhttpd().add_connection(daemon_, socket, reinterpret_cast<const sockaddr*>(&address), size);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // A connection that is ended leaves what is missing. If there is none, others have it.
      if (strangers_.empty() && known_.empty()) pause_end_ = Clock::now() + kPause;
      return end_longest_unused();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

// Of those that there are more of: neither many that ask nothing nor many that have asked once take the place
// of the others.
void HttpServer::Loop::end_longest_unused() {
  Clients& more = strangers_.size() > known_.size() ? strangers_ : known_;
  if (!more.empty()) end(more.front());
}

void HttpServer::Loop::end_overdue(Clients& clients) {
  while (!clients.empty() && Clock::now() - clients.front().since >= patience_) end(clients.front());
}

// The library closes the connection when it notices the shutdown. Until then the client goes to the end of
// its list, so that it is not chosen again.
void HttpServer::Loop::end(Client& client) {
  shutdown(client.socket, SHUT_RDWR);
  move(client, *client.in);
}

void HttpServer::Loop::move(Client& client, Clients& to) {
  client.since = Clock::now();
  to.splice(to.end(), *client.in, client.here);
  client.in = &to;
}

HttpServer::Loop::Client* HttpServer::Loop::client_of(MHD_Connection* connection) {
  return static_cast<Client*>(
      microhttpd().get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
}

void HttpServer::Loop::begun_or_ended(void* self, MHD_Connection* connection, void** client,
                                      MHD_ConnectionNotificationCode what) try {
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    Clients& strangers = static_cast<Loop*>(self)->strangers_;
    const int socket =
        microhttpd().get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    strangers.push_back({socket, Clock::now(), &strangers});
    strangers.back().here = std::prev(strangers.end());
    *client = &strangers.back();
  } else if (*client) {
    const Client& ended = *static_cast<Client*>(*client);
    ended.in->erase(ended.here);
  }
} catch (const std::exception&) {  // no memory; its first request will end the connection
}

// Called when the headers of a request are there, and again at its end. An answer to the first call ends the
// connection, which is right for a request that brings data, since nothing here takes any.
MHD_Result HttpServer::Loop::asked(void* self, MHD_Connection* connection, const char* path,
                                   const char* method, const char*, const char*, size_t*, void** seen) try {
  const bool brings_data = !value_of(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH).empty() ||
                           !value_of(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING).empty();
  if (!*seen && !brings_data) return *seen = self, MHD_YES;
  auto& loop = *static_cast<Loop*>(self);
  Client* client = client_of(connection);
  if (!client) return MHD_NO;
  move(*client, loop.known_);
  return loop.answer(connection, HttpRequest(method, path, connection));
} catch (const std::exception&) {  // no memory; the library ends the connection
  return MHD_NO;
}

MHD_Result HttpServer::Loop::answer(MHD_Connection* connection, const HttpRequest& request) const {
  HttpAnswer answer;
  try {
    answer = handler_(request);
  } catch (const std::exception&) {  // no memory for it, for instance
    answer = {MHD_HTTP_INTERNAL_SERVER_ERROR, "text/plain", {{"this cannot be answered now\n"}}};
  }
  auto body = std::make_unique<BodyReader>(std::move(answer.body));
  const size_t size = body->size();
  MHD_Response* response = microhttpd().create_response_from_callback(
      size, std::clamp<size_t>(size, 1, kBlock),
      [](void* reader, uint64_t, char* to, size_t room) {
        return static_cast<ssize_t>(static_cast<BodyReader*>(reader)->read(to, room));
      },
      body.get(), [](void* reader) { delete static_cast<BodyReader*>(reader); });
  if (!response) return MHD_NO;
  body.release();
  microhttpd().add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type);
  for (const auto& [name, value] : headers_)
    microhttpd().add_response_header(response, name.c_str(), value.c_str());
  const MHD_Result queued =
      microhttpd().queue_response(connection, static_cast<unsigned>(answer.status), response);
  microhttpd().destroy_response(response);
  return queued;
}

HttpServer::HttpServer(int port, Headers headers, Handler handler, milliseconds patience) {
  if (!microhttpd().library.problem().empty()) throw system_error("serve: ", microhttpd().library.problem());
  loop_ = std::make_unique<Loop>(port, std::move(headers), std::move(handler), patience);
  port_ = loop_->port();
  loop_->start();
}

HttpServer::~HttpServer() = default;

std::string http_library_version() {
  // Each two digits of MHD_VERSION are one number.
  return text(std::hex, MHD_VERSION >> 24, ".", MHD_VERSION >> 16 & 0xff, ".", MHD_VERSION >> 8 & 0xff);
}

}  // namespace heed::serve
