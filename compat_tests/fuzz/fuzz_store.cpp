// Any bytes as what a client says to the server of a TCPStore after its greeting: the first byte says whether they are
// cut into whole frames, each of as many bytes as the byte before it says, or sent as they are.
#include "distributed/tcp/server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "distributed/tcp/sha256.h"

using namespace hb::distributed::tcp;

namespace {

// A name that is in no file system, of this call's own: the last one may not be free yet.
sockaddr_un address() {
  static int calls = 0;
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  const std::string name = "hb_fuzz_store_" + std::to_string(::getpid()) + '_' + std::to_string(calls++);
  name.copy(a.sun_path + 1, name.size());
  return a;
}

int open_socket() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) std::abort();
  return fd;
}

// libFuzzer's alarm interrupts calls.
template <class F>
auto again(const F& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::string framed(const uint8_t* data, size_t size) {
  std::string bytes;
  while (size > 0) {
    const uint32_t n = std::min<uint32_t>(data[0], static_cast<uint32_t>(size - 1));
    bytes.append(reinterpret_cast<const char*>(&n), 4);
    bytes.append(reinterpret_cast<const char*>(data + 1), n);
    data += n + 1, size -= n + 1;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const sockaddr_un a = address();
  const int listener = open_socket(), client = open_socket();
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 || ::listen(listener, 4) != 0)
    std::abort();
  const Server server(listener, "");
  if (again([&] { return ::connect(client, reinterpret_cast<const sockaddr*>(&a), sizeof a); }) != 0) std::abort();
  char hello[kGreeting];
  for (size_t got = 0; got < sizeof hello;) {
    const ssize_t n = again([&] { return ::recv(client, hello + got, sizeof hello - got, 0); });
    if (n <= 0) std::abort();
    got += static_cast<size_t>(n);
  }
  const Digest proof = hmac_sha256("", std::string(hello + 5, 32));
  std::string bytes = kMagic + std::string(proof.begin(), proof.end());
  bytes += data[0] % 2 ? framed(data + 1, size - 1) : std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  [[maybe_unused]] const ssize_t sent = again([&] { return ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  ::shutdown(client, SHUT_WR);
  char answers[4096];
  while (again([&] { return ::recv(client, answers, sizeof answers, 0); }) > 0) {
  }
  ::close(client);
  return 0;
}
