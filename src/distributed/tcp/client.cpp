#include "distributed/tcp/client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "distributed/tcp/connect.h"
#include "distributed/tcp/sha256.h"

namespace hb::distributed::tcp {

namespace {

constexpr std::chrono::seconds kGrace{20};  // beyond the time that the server may take

}  // namespace

Client::Client(const std::string& host, uint16_t port, std::chrono::milliseconds timeout)
    : name_(host + ":" + std::to_string(port)), fd_(connect_to(host, port, timeout)) {
  try {
    greet();
  } catch (...) {
    close(fd_);
    throw;
  }
}

Client::~Client() { close(fd_); }

void Client::lost(const std::string& why) {
  lost_ = true;
  throw DistNetworkError("[TCPStore] the connection to the store at " + name_ + " is lost: " + why);
}

void Client::greet() {
  const std::chrono::milliseconds wait{1};
  std::string greeting(kGreeting, '\0');
  receive(greeting.data(), greeting.size(), wait);
  if (greeting.compare(0, 5, kMagic) != 0) lost("what answers there is no store of this kind");
  const Digest proof = hmac_sha256(secret(), greeting.substr(5));
  send_all(kMagic + std::string(proof.begin(), proof.end()), wait);
  uint32_t n;
  receive(reinterpret_cast<char*>(&n), 4, wait);
  if (n == 0 || n > 4096) lost("its greeting is malformed");
  std::string frame(n, '\0');
  receive(frame.data(), n, wait);
  Reader in(frame);
  if (static_cast<Status>(in.byte()) != Status::ok) lost(std::string(in.text()));
}

void Client::send_all(const std::string& bytes, std::chrono::milliseconds wait) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) lost(strerror(errno));
    pollfd polled{fd_, POLLOUT, 0};
    if (poll(&polled, 1, static_cast<int>(std::chrono::milliseconds(kGrace).count())) == 0)
      lost("it takes nothing more");
  }
}

void Client::receive(char* to, size_t n, std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait + kGrace;
  for (size_t done = 0; done < n;) {
    const ssize_t got = recv(fd_, to + done, n - done, 0);
    if (got > 0) {
      done += static_cast<size_t>(got);
      continue;
    }
    if (got == 0) lost("it was closed; the process that serves the store has ended");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) lost(strerror(errno));
    pollfd polled{fd_, POLLIN, 0};
    poll(&polled, 1, 1000);
    if (wait.count() > 0 && std::chrono::steady_clock::now() > end) lost("it does not answer");
  }
}

Client::Answer Client::ask(Writer request, std::chrono::milliseconds wait) {
  const std::string bytes = request.finish();
  std::lock_guard<std::mutex> lock(mutex_);
  if (lost_) lost("an earlier request failed");
  send_all(bytes, wait);
  uint32_t n;
  receive(reinterpret_cast<char*>(&n), 4, wait);
  if (n == 0 || n > kLargestFrame) lost("its answer is malformed");
  std::string frame(n, '\0');
  receive(frame.data(), n, std::max(wait, std::chrono::milliseconds(1)));
  Reader in(frame);
  const auto status = static_cast<Status>(in.byte());
  if (status > Status::empty) lost("its answer is malformed");
  return {status, std::move(frame)};
}

}  // namespace hb::distributed::tcp
