#include "distributed/tcp/server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "distributed/tcp/sha256.h"

namespace hb::distributed::tcp {

namespace {

constexpr size_t kMostConnections = 8192;
constexpr std::chrono::seconds kGreetingTime{10};
constexpr size_t kRead = size_t{64} << 10;

void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

Server::Server(int listener, std::string secret) : listener_(listener), secret_(std::move(secret)) {
  HB_CHECK(pipe2(stop_, O_CLOEXEC) == 0, "[TCPStore] cannot make a pipe: ", strerror(errno));
  set_nonblocking(listener_);
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "hb_store");
    loop();
  });
}

Server::~Server() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  for (auto& [fd, c] : connections_) close(fd);
  close(listener_);
}

uint16_t Server::port() const {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  HB_CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0,
           "[TCPStore] no port: ", strerror(errno));
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

int Server::next_timeout() const {
  auto next = Clock::time_point::max();
  for (const auto& [fd, c] : connections_) {
    if (!c.greeted) next = std::min(next, c.since + kGreetingTime);
    if (c.waits && !c.forever) next = std::min(next, c.until);
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 60000));
}

void Server::loop() {
  std::vector<pollfd> polled;
  for (;;) {
    polled = {{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& [fd, c] : connections_)
      polled.push_back({fd, static_cast<short>(c.written < c.out.size() ? POLLIN | POLLOUT : POLLIN), 0});
    if (poll(polled.data(), polled.size(), next_timeout()) < 0 && errno != EINTR) return;
    if (polled[0].revents) return;
    if (polled[1].revents) accept_all();
    for (size_t i = 2; i < polled.size(); ++i) {
      const auto found = connections_.find(polled[i].fd);
      if (found == connections_.end()) continue;
      Connection& c = found->second;
      const bool late = !c.greeted && Clock::now() - c.since > kGreetingTime;
      if (late || (polled[i].revents && !serve(c, polled[i].revents))) {
        close(c.fd);
        connections_.erase(found);
      }
    }
    look_at_waits();
  }
}

void Server::accept_all() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    if (connections_.size() >= kMostConnections) {
      close(fd);
      continue;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Connection& c = connections_[fd];
    c.fd = fd;
    c.nonce.resize(32);
    if (getrandom(c.nonce.data(), c.nonce.size(), 0) != 32) c.doomed = true;
    c.out = kMagic + c.nonce;
    flush(c);
  }
}

/// False when the connection is over.
bool Server::serve(Connection& c, short events) {
  if (events & (POLLERR | POLLNVAL)) return false;
  if ((events & (POLLIN | POLLHUP)) && !receive(c)) return false;
  return flush(c);
}

bool Server::receive(Connection& c) {
  char buffer[kRead];
  for (;;) {
    const ssize_t n = recv(c.fd, buffer, sizeof(buffer), 0);
    if (n == 0) return false;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    c.in.append(buffer, static_cast<size_t>(n));
    try {
      if (!c.greeted) greet(c);
      if (c.greeted) consume(c);
    } catch (const Malformed&) {
      return false;
    }
    // What a client sends while it waits is for later; no honest one sends more than it was answered for.
    if (c.waits && c.in.size() > kGreeting) return false;
  }
}

void Server::greet(Connection& c) {
  const size_t n = std::min(c.in.size(), std::strlen(kMagic));
  if (c.in.compare(0, n, kMagic, n) != 0) throw Malformed("no client of a store");
  if (c.in.size() < kGreeting) return;
  const Digest proof = hmac_sha256(secret_, c.nonce);
  uint8_t differs = 0;  // compared without telling by its time how much of it is right
  for (size_t i = 0; i < proof.size(); ++i) differs |= proof[i] ^ static_cast<uint8_t>(c.in[5 + i]);
  c.in.erase(0, kGreeting);
  Writer answer(static_cast<uint8_t>(differs ? Status::error : Status::ok));
  if (differs)
    answer.text(secret_.empty() ? "it demands no secret, and this process has HALFBRIDGE_SECRET set"
                                : "it demands a secret: HALFBRIDGE_SECRET must be the same in all processes");
  c.out += answer.finish();
  c.greeted = !differs;
  c.doomed = differs;
}

/// Handles whole frames.
void Server::consume(Connection& c) {
  size_t at = 0;
  while (!c.waits && c.in.size() - at >= 4) {
    uint32_t n;
    std::memcpy(&n, c.in.data() + at, 4);
    if (n == 0 || n > kLargestFrame) throw Malformed(detail::str("a frame of ", n, " bytes"));
    if (c.in.size() - at - 4 < n) break;
    handle(c, std::string_view(c.in).substr(at + 4, n));
    at += 4 + n;
  }
  c.in.erase(0, at);
}

bool Server::flush(Connection& c) {
  while (c.written < c.out.size()) {
    const ssize_t n = send(c.fd, c.out.data() + c.written, c.out.size() - c.written, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    c.written += static_cast<size_t>(n);
  }
  c.out.clear();
  c.written = 0;
  return !c.doomed;
}

bool Server::satisfied(const Connection& c) const {
  for (const auto& key : c.keys) {
    const auto queue = queues_.find(key);
    if (c.queue ? queue == queues_.end() || queue->second.empty() : values_.count(key) == 0) return false;
  }
  return true;
}

void Server::begin_wait(Connection& c, int64_t timeout) {
  c.waits = true;
  c.forever = timeout <= 0;
  c.until = Clock::now() + std::chrono::milliseconds(std::clamp<int64_t>(timeout, 0, int64_t{1} << 40));
}

std::string Server::refused(size_t bytes) {
  Writer answer(static_cast<uint8_t>(Status::error));
  answer.text(detail::str("[TCPStore] expected an answer of at most ", kLargestFrame, " bytes, got ", bytes));
  return answer.finish();
}

void Server::answer_wait(Connection& c) {
  c.waits = false;
  // One key may be asked for many times over.
  size_t bytes = 0;
  for (size_t i = 0; i < c.keys.size() && c.values; ++i) bytes += 4 + values_[c.keys[i]].size();
  if (bytes > kLargestFrame - kAnswerHead) {
    c.out += refused(bytes);
    return;
  }
  Writer answer(static_cast<uint8_t>(Status::ok));
  if (c.many) answer.number(static_cast<int64_t>(c.keys.size()));
  for (const auto& key : c.keys) {
    if (c.queue) {
      auto& queue = queues_[key];
      answer.text(queue.front());
      queue.pop_front();
      if (queue.empty()) queues_.erase(key);
    } else if (c.values) {
      answer.text(values_[key]);
    }
  }
  c.out += answer.finish();
}

void Server::look_at_waits() {
  const auto now = Clock::now();
  for (auto& [fd, c] : connections_) {
    if (!c.waits) continue;
    if (satisfied(c)) {
      answer_wait(c);
    } else if (!c.forever && now >= c.until) {
      c.out += Writer(static_cast<uint8_t>(Status::timeout)).finish();
      c.waits = false;
    } else {
      continue;
    }
    flush(c);  // where it fails, poll tells
  }
}

}  // namespace hb::distributed::tcp
