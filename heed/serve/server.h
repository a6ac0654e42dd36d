// The report's page over HTTP, on 127.0.0.1 only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace heed::serve {

class Server {
 public:
  // Opens the port, 0 for any free one, and starts to answer. Throws if the port is in use.
  Server(const std::vector<std::filesystem::path>& runs, const std::string& version, int port);
  ~Server();  // ends all connections
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;

  int port() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace heed::serve
