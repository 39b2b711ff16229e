#pragma once
// The server of a TCPStore: one thread that polls. A client that waits for a key costs the server nothing but an entry.

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "distributed/tcp/wire.h"

namespace hb::distributed::tcp {

class Server {
 public:
  /// Takes a listening socket.
  Server(int listener, std::string secret);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  uint16_t port() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int fd;
    Clock::time_point since = Clock::now();
    bool greeted = false;
    bool doomed = false;  // is closed when its last answer is out
    std::string nonce, in, out;
    size_t written = 0;
    // What it waits for.
    bool waits = false;
    std::vector<std::string> keys;
    bool queue = false, values = false, many = false;
    Clock::time_point until{};
    bool forever = false;
  };

  void loop();
  void accept_all();
  bool serve(Connection& c, short events);
  bool receive(Connection& c);
  bool flush(Connection& c);
  void greet(Connection& c);
  void consume(Connection& c);
  void handle(Connection& c, std::string_view frame);
  void change(Connection& c, Op op, Reader& in);
  void ask(Connection& c, Op op, Reader& in);
  void begin_wait(Connection& c, int64_t timeout);
  bool satisfied(const Connection& c) const;
  void answer_wait(Connection& c);
  /// The answer in place of one that would be too large.
  static std::string refused(size_t bytes);
  void look_at_waits();
  int next_timeout() const;

  int listener_, stop_[2];
  std::string secret_;
  std::map<int, Connection> connections_;
  std::unordered_map<std::string, std::string> values_;
  std::unordered_map<std::string, std::deque<std::string>> queues_;
  std::thread thread_;
};

}  // namespace hb::distributed::tcp
