// libhalfbridge_gloo.so: messages by Gloo over TCP.
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>

#include "distributed/message_engine.h"
#include "distributed/modules.h"
#include "distributed/modules/gloo/connections.h"

namespace hb::distributed {

namespace {

/// Gloo writes to sockets whose other end may be gone, which by default ends the process. Within a scope the signal is
/// held back, and taken away if it came; a thread that is made there inherits that.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pending;
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~NoPipeSignal() {
    came();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  /// True if it came since the last look.
  bool came() {
    const timespec at_once{0, 0};
    return !was_pending_ && sigtimedwait(&set_, nullptr, &at_once) == SIGPIPE;
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t set_, before_;
  bool was_pending_;
};

/// Gloo finds its peers in a store of ours.
class GlooStore : public gloo::rendezvous::Store {
 public:
  explicit GlooStore(intrusive_ptr<distributed::Store> store) : store_(std::move(store)) {}
  void set(const std::string& key, const std::vector<char>& value) override {
    store_->set("gloo/" + key, std::vector<uint8_t>(value.begin(), value.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const auto value = store_->get("gloo/" + key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, store_->getTimeout()); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    std::vector<std::string> names;
    for (const auto& key : keys) names.push_back("gloo/" + key);
    store_->wait(names, timeout);
  }

 private:
  intrusive_ptr<distributed::Store> store_;
};

class GlooTransfer : public Transfer {
 public:
  GlooTransfer(std::unique_ptr<gloo::transport::UnboundBuffer> buffer, bool sends, int peer, Owner owner,
               std::shared_ptr<Connections> connections)
      : buffer_(std::move(buffer)),
        message_{*buffer_, sends, peer, {}},
        owner_(std::move(owner)),
        connections_(std::move(connections)) {
    connections_->enter(message_);
  }
  ~GlooTransfer() override {
    connections_->leave(message_);
    if (done_) return;
    message_.sends ? buffer_->abortWaitSend() : buffer_->abortWaitRecv();
  }
  // Gloo gives up its connections when a wait is too short, and cannot be asked otherwise; so, as in LibTorch, a
  // message is complete when it was waited for.
  bool test() override { return done_; }
  bool wait(Deadline deadline) override {
    if (done_) return true;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    try {
      done_ = wait_for(std::max(left, std::chrono::milliseconds(1)));
      // It may have come before its connection ended.
      if (!done_ && !connections_->lost(message_).empty()) done_ = wait_for(std::chrono::milliseconds(1));
    } catch (const gloo::IoException& e) {
      if (std::chrono::steady_clock::now() >= deadline) return false;  // Gloo has ended the connections
      const std::string lost = connections_->lost(message_);
      throw DistBackendError(lost.empty() ? e.what() : lost);
    }
    if (!done_) throw DistBackendError("the message was aborted");
    return true;
  }
  int source() const override { return source_; }

 private:
  bool wait_for(std::chrono::milliseconds time) {
    return message_.sends ? buffer_->waitSend(nullptr, time) : buffer_->waitRecv(&source_, time);
  }

  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  Connections::Message message_;
  bool done_ = false;
  int source_ = -1;
  Owner owner_;
  std::shared_ptr<Connections> connections_;
};

class GlooEngine : public MessageEngine {
 public:
  GlooEngine(const intrusive_ptr<Store>& store, int rank, int size, std::shared_ptr<gloo::transport::Device> device,
             std::chrono::milliseconds timeout)
      : MessageEngine(rank, size, store), context_(std::make_shared<gloo::rendezvous::Context>(rank, size)) {
    GlooStore rendezvous(store);
    context_->setTimeout(timeout);
    context_->connectFullMesh(rendezvous, device);
    connections_ = std::make_shared<Connections>(context_, rank, size);
  }
  std::string name() const override { return "Gloo (TCP)"; }
  void abort(const std::string&) override { context_->closeConnections(); }

 protected:
  std::unique_ptr<Transfer> start(bool sends, Channel channel, int peer, uint32_t mark, void* data, size_t bytes,
                                  Owner owner) override {
    static char nothing;
    NoPipeSignal held;
    const uint64_t slot = static_cast<uint64_t>(channel) << 32 | mark;
    auto buffer = context_->createUnboundBuffer(data ? data : &nothing, bytes);
    errno = 0;
    if (sends) {
      buffer->send(peer, slot);
    } else if (peer >= 0) {
      buffer->recv(peer, slot);
    } else {
      std::vector<int> ranks;
      for (int r = 0; r < size_; ++r)
        if (r != rank_) ranks.push_back(r);
      buffer->recv(ranks, slot);
    }
    // A write that fails here leaves the message waiting for ever: Gloo closes the connection first, and then queues
    // it.
    const int code = errno;
    if (held.came() || code == EPIPE || code == ECONNRESET) throw DistBackendError("Connection closed by peer");
    return std::make_unique<GlooTransfer>(std::move(buffer), sends, peer, std::move(owner), connections_);
  }

 private:
  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::shared_ptr<Connections> connections_;
};

/// True if the name is an address to which this machine can bind.
bool is_own(const std::string& name) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return false;
  bool own = false;
  for (const addrinfo* a = list; a && !own; a = a->ai_next) {
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    own = fd >= 0 && bind(fd, a->ai_addr, a->ai_addrlen) == 0;
    if (fd >= 0) close(fd);
  }
  freeaddrinfo(list);
  return own;
}

std::shared_ptr<gloo::transport::Device> make_device(const std::string& interface, const std::string& hostname) {
  gloo::transport::tcp::attr attr;
  const char* chosen = std::getenv("GLOO_SOCKET_IFNAME");
  char own[256] = {};
  if (!interface.empty() || !hostname.empty()) {
    attr.iface = interface;
    attr.hostname = hostname;
  } else if (chosen && *chosen) {
    attr.iface = std::string(chosen).substr(0, std::string(chosen).find(','));
  } else {
    attr.hostname = gethostname(own, sizeof(own) - 1) == 0 && is_own(own) ? own : "127.0.0.1";
  }
  return gloo::transport::tcp::CreateDevice(attr);
}

/// What Gloo throws is no error of ours.
template <class F>
auto translated(const char* what, const F& f) {
  const NoPipeSignal held;
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw DistBackendError(detail::str("[Gloo] ", what, ": ", e.what()));
  }
}

}  // namespace

}  // namespace hb::distributed

extern "C" {

HB_API std::shared_ptr<hb::distributed::Engine> hb_make_gloo_engine(
    const hb::intrusive_ptr<hb::distributed::Store>& store, int rank, int size,
    std::shared_ptr<gloo::transport::Device> device, std::chrono::milliseconds timeout) {
  using namespace hb::distributed;
  return translated("cannot connect", [&]() -> std::shared_ptr<Engine> {
    if (!device) device = make_device("", "");
    return std::make_shared<GlooEngine>(store, rank, size, device, timeout);
  });
}

HB_API std::shared_ptr<gloo::transport::Device> hb_make_gloo_device(const std::string& interface,
                                                                    const std::string& hostname) {
  using namespace hb::distributed;
  return translated("cannot make a device", [&] { return make_device(interface, hostname); });
}
}
