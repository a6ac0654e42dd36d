// The report's page over HTTP, on 127.0.0.1 alone.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace heed::serve {

class Server {
 public:
  // Takes the port, 0 for any that is free; one that is taken is an Error. Answers from then on.
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
