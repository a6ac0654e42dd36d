// httplib's server with control over its connections: a whole request must arrive, and each part of an answer
// be sent, within a time limit (the library's limit is per byte); stopping the server ends them.
#pragma once

#include <httplib.h>

#include <mutex>
#include <set>

namespace heed::serve {

class HeldServer : public httplib::Server {
 public:
  // No request is read and no answer is sent after this.
  void end_connections();

 private:
  // One request each: a browser needs three, and a silent client would hold a thread.
  bool process_and_close_socket(socket_t socket) override;

  std::mutex mutex_;
  std::set<socket_t> open_;
  bool ended_ = false;
};

}  // namespace heed::serve
