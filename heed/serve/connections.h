// httplib's server, with a hold on its connections: a request has to come, and each part of an answer to go,
// within a time in all, not within a time for each byte; and the end of the server ends them.
#pragma once

#include <httplib.h>

#include <mutex>
#include <set>

namespace heed::serve {

class HeldServer : public httplib::Server {
 public:
  // No request is read and no answer goes on after this.
  void end_connections();

 private:
  // One request each: a browser asks for three things, and who is silent would hold a thread.
  bool process_and_close_socket(socket_t socket) override;

  std::mutex mutex_;
  std::set<socket_t> open_;
  bool ended_ = false;
};

}  // namespace heed::serve
