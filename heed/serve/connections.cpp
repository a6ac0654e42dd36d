#include "heed/serve/connections.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

namespace heed::serve {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRequestTime = std::chrono::seconds(2);  // for all of a request: it comes from this machine
constexpr auto kAnswerTime = std::chrono::seconds(5);   // for each part of an answer

// Whether the socket is ready within that time.
bool ready(socket_t socket, short event, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd asked{socket, event, 0};
    const int answer = poll(&asked, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (answer >= 0 || errno != EINTR) return answer > 0;
  }
}

class Connection : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket), request_end_(Clock::now() + kRequestTime) {}

  bool is_readable() const override { return at_ < filled_ || ready(socket_, POLLIN, request_end_); }
  bool is_writable() const override {
    char byte;
    // A page that was closed has shut down its side.
    return ready(socket_, POLLOUT, Clock::now() + kAnswerTime) &&
           recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
  }
  ssize_t read(char* to, size_t size) override {
    if (at_ == filled_) {
      if (!ready(socket_, POLLIN, request_end_)) return -1;
      const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got <= 0) return got;
      at_ = 0, filled_ = static_cast<size_t>(got);
    }
    const size_t count = std::min(size, filled_ - at_);
    std::copy_n(buffer_.data() + at_, count, to);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    const auto end = Clock::now() + kAnswerTime;
    for (size_t done = 0; done < size;) {
      if (!ready(socket_, POLLOUT, end)) return -1;
      const ssize_t sent = send(socket_, from + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return -1;
      done += static_cast<size_t>(std::max<ssize_t>(sent, 0));
    }
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = "127.0.0.1", port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = "127.0.0.1", port = 0; }
  socket_t socket() const override { return socket_; }

 private:
  socket_t socket_;
  Clock::time_point request_end_;
  std::array<char, 4096> buffer_;
  size_t at_ = 0, filled_ = 0;
};

}  // namespace

void HeldServer::end_connections() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const socket_t socket : open_) shutdown(socket, SHUT_RDWR);
}

bool HeldServer::process_and_close_socket(socket_t socket) {
  {
    const std::lock_guard lock(mutex_);
    open_.insert(socket);
    if (ended_) shutdown(socket, SHUT_RDWR);
  }
  Connection connection(socket);
  bool closed = false;
  const bool answered = process_request(connection, true, closed, nullptr);
  const std::lock_guard lock(mutex_);
  open_.erase(socket);
  shutdown(socket, SHUT_RDWR);
  close(socket);
  return answered;
}

}  // namespace heed::serve
