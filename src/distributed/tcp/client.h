#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "distributed/tcp/wire.h"

namespace hb::distributed::tcp {

/// One connection to a server. Requests go one at a time.
class Client {
 public:
  Client(const std::string& host, uint16_t port, std::chrono::milliseconds timeout);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// The answer's status and fields. `wait`: how long the server may take (0: for ever); a server that does not answer
  /// long after that is gone. Throws DistNetworkError where the connection fails, after which it is of no use.
  struct Answer {
    Status status;
    std::string frame;
    Reader fields() const {
      Reader in(frame);
      in.byte();
      return in;
    }
  };
  Answer ask(Writer request, std::chrono::milliseconds wait);

 private:
  void greet();
  void send_all(const std::string& bytes, std::chrono::milliseconds wait);
  void receive(char* to, size_t n, std::chrono::milliseconds wait);
  [[noreturn]] void lost(const std::string& why);

  std::string name_;
  int fd_;
  bool lost_ = false;
  std::mutex mutex_;
};

}  // namespace hb::distributed::tcp
