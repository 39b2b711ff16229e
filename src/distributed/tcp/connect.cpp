#include "distributed/tcp/connect.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include <halfbridge/distributed/error.h>

namespace hb::distributed::tcp {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& host, uint16_t port, int flags, std::string& error) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (code != 0) error = gai_strerror(code), list = nullptr;
  return {list, freeaddrinfo};
}

/// Connects within the time; the error else.
int try_connect(const addrinfo& address, int timeout_ms, std::string& error) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
  if (fd < 0) {
    error = strerror(errno);
    return -1;
  }
  int code = connect(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (code == EINPROGRESS) {
    pollfd polled{fd, POLLOUT, 0};
    socklen_t length = sizeof(code);
    if (poll(&polled, 1, timeout_ms) <= 0)
      code = ETIMEDOUT;
    else
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length);
  }
  if (code == 0) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    return fd;
  }
  error = strerror(code);
  close(fd);
  return -1;
}

}  // namespace

std::string secret() {
  const char* text = std::getenv("HALFBRIDGE_SECRET");
  return text ? text : "";
}

int listen_on(const std::string& host, uint16_t port) {
  const char* chosen = std::getenv("HALFBRIDGE_LISTEN");
  const std::string name = chosen && *chosen ? chosen : host;
  std::string error;
  const Addresses list = resolve(name, port, AI_PASSIVE, error);
  for (const addrinfo* address = list.get(); address; address = address->ai_next) {
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, address->ai_protocol);
    const int on = 1;
    if (fd >= 0) {
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
      if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, 1024) == 0) return fd;
    }
    error = strerror(errno);
    if (errno == EADDRNOTAVAIL) error += ", which is no address of this machine (HALFBRIDGE_LISTEN names another)";
    if (fd >= 0) close(fd);
  }
  throw DistNetworkError(
      detail::str("[TCPStore] The server socket has failed to listen on ", name, ":", port, ": ", error));
}

int connect_to(const std::string& host, uint16_t port, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto end = timeout.count() > 0 ? Clock::now() + timeout : Clock::time_point::max();
  std::string error;
  for (std::chrono::milliseconds pause{10};; pause = std::min(2 * pause, std::chrono::milliseconds(1000))) {
    const Addresses list = resolve(host, port, 0, error);
    for (const addrinfo* address = list.get(); address; address = address->ai_next) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      const int fd =
          try_connect(*address, static_cast<int>(std::min<int64_t>(std::max<int64_t>(left, 1), 10000)), error);
      if (fd >= 0) return fd;
    }
    if (Clock::now() + pause >= end)
      throw DistNetworkError(detail::str("[TCPStore] The client socket has timed out after ", timeout.count(),
                                         " ms while trying to connect to ", host, ":", port, ": ", error));
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace hb::distributed::tcp
