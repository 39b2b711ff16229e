#include <halfbridge/distributed/tcp_store.h>

#include <map>
#include <thread>

#include "distributed/tcp/client.h"
#include "distributed/tcp/connect.h"
#include "distributed/tcp/server.h"
#include "distributed/text.h"

namespace hb::distributed {

using tcp::Op;
using tcp::Status;
using tcp::Writer;

namespace {

constexpr std::chrono::milliseconds kAtOnce{1};  // of requests that wait for nothing
const std::string kJoined = "init/";             // how many clients have come; a program's keys begin with a slash

std::string_view view(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Writer request(Op op) { return Writer(static_cast<uint8_t>(op)); }

Writer request(Op op, const std::string& key) {
  Writer out = request(op);
  if (key.size() + 1 > tcp::kLargestKey)
    throw DistStoreError(
        detail::str("[TCPStore] expected keys of at most ", tcp::kLargestKey - 1, " bytes, got ", key.size()));
  out.text("/" + key);
  return out;
}

std::shared_ptr<tcp::Server> serve(const std::string& host, const TCPStoreOptions& options) {
  static std::mutex mutex;
  static auto* const shared = new std::map<uint16_t, std::weak_ptr<tcp::Server>>;
  const auto make = [&] {
    const int fd = options.masterListenFd ? *options.masterListenFd : tcp::listen_on(host, options.port);
    return std::make_shared<tcp::Server>(fd, tcp::secret());
  };
  if (!options.multiTenant) return make();
  std::lock_guard<std::mutex> lock(mutex);
  auto server = (*shared)[options.port].lock();
  if (!server) (*shared)[options.port] = server = make();
  return server;
}

}  // namespace

class TCPStore::Client : public tcp::Client {
 public:
  using tcp::Client::Client;
  /// The fields of an answer that must be good.
  std::string good(Writer request, std::chrono::milliseconds wait, const std::string& what) {
    Answer answer = ask(std::move(request), wait);
    if (answer.status == Status::timeout)
      throw DistStoreError(detail::str("[TCPStore] wait timeout after ", wait.count(), "ms, keys: ", what));
    if (answer.status == Status::empty) throw DistQueueEmptyError("[queuePop] the queue '" + what + "' is empty");
    if (answer.status == Status::error) throw Error(std::string(answer.fields().text()));
    return std::move(answer.frame);
  }
  int64_t number(Writer request, const std::string& what) {
    const std::string answer = good(std::move(request), kAtOnce, what);
    tcp::Reader in(answer);
    return in.byte(), in.number();
  }
};

TCPStore::TCPStore(std::string host, const TCPStoreOptions& options)
    : Store(options.timeout), host_(std::move(host)), port_(options.port), workers_(options.numWorkers) {
  if (options.isServer) {
    auto server = serve(host_, options);
    port_ = server->port();
    server_ = server;
  }
  HB_CHECK(port_ != 0, "[TCPStore] expected the server's port, got 0");
  client_ = std::make_unique<Client>(host_, port_, timeout_);
  Writer join = request(Op::add);
  join.text(kJoined);
  join.number(1);
  client_->number(std::move(join), kJoined);
  if (options.waitWorkers) waitForWorkers();
}

TCPStore::~TCPStore() = default;

void TCPStore::waitForWorkers() {
  if (!workers_ || !server_) return;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    Writer ask = request(Op::add);
    ask.text(kJoined);
    ask.number(0);
    const int64_t joined = client_->number(std::move(ask), kJoined);
    if (joined >= static_cast<int64_t>(*workers_)) return;
    if (timeout_ != kNoTimeout && std::chrono::steady_clock::now() - begin > timeout_)
      throw DistStoreError(detail::str("Timed out after ", timeout_.count() / 1000, " seconds waiting for clients. ",
                                       joined, "/", *workers_, " clients joined."));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

intrusive_ptr<Store> TCPStore::clone() {
  TCPStoreOptions options;
  options.port = port_;
  options.timeout = timeout_;
  options.waitWorkers = false;
  auto copy = make_intrusive<TCPStore>(host_, options);
  copy->server_ = server_;
  return copy;
}

void TCPStore::setTimeout(const std::chrono::milliseconds& timeout) { timeout_ = timeout; }

std::string TCPStore::repr() const {
  return detail::str("TCPStore(", host_, ":", port_, server_ ? ", server" : "", ")");
}

void TCPStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  Writer out = request(Op::set, key);
  out.text(view(value));
  client_->good(std::move(out), kAtOnce, key);
}

std::vector<uint8_t> TCPStore::compareSet(const std::string& key, const std::vector<uint8_t>& currentValue,
                                          const std::vector<uint8_t>& newValue) {
  Writer out = request(Op::compare_set, key);
  out.text(view(currentValue));
  out.text(view(newValue));
  const std::string answer = client_->good(std::move(out), kAtOnce, key);
  tcp::Reader in(answer);
  in.byte();
  return bytes_of(std::string(in.text()));
}

namespace {

/// A request for keys for which the server may wait.
Writer waiting(Op op, std::chrono::milliseconds timeout, const std::vector<std::string>& keys) {
  Writer out = request(op);
  if (op != Op::check) out.number(timeout.count());
  out.number(static_cast<int64_t>(keys.size()));
  for (const auto& key : keys) out.text("/" + key);
  return out;
}

}  // namespace

std::vector<uint8_t> TCPStore::get(const std::string& key) {
  const std::string answer = client_->good(waiting(Op::get, timeout_, {key}), timeout_, key);
  tcp::Reader in(answer);
  in.byte();
  return bytes_of(std::string(in.text()));
}

int64_t TCPStore::add(const std::string& key, int64_t value) {
  Writer out = request(Op::add, key);
  out.number(value);
  return client_->number(std::move(out), key);
}

bool TCPStore::deleteKey(const std::string& key) { return client_->number(request(Op::remove, key), key) != 0; }

bool TCPStore::check(const std::vector<std::string>& keys) {
  return client_->number(waiting(Op::check, timeout_, keys), listed(keys)) != 0;
}

int64_t TCPStore::getNumKeys() { return client_->number(request(Op::count), ""); }

void TCPStore::wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }

void TCPStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  client_->good(waiting(Op::wait, timeout, keys), timeout, listed(keys));
}

std::vector<std::string> TCPStore::listKeys() {
  const std::string answer = client_->good(request(Op::list), kAtOnce, "");
  tcp::Reader in(answer);
  in.byte();
  std::vector<std::string> keys;
  for (uint32_t n = in.count(); n > 0; --n) {
    const std::string key = in.key();
    if (key[0] == '/') keys.push_back(key.substr(1));
  }
  return keys;
}

void TCPStore::append(const std::string& key, const std::vector<uint8_t>& value) {
  Writer out = request(Op::append, key);
  out.text(view(value));
  client_->good(std::move(out), kAtOnce, key);
}

std::vector<std::vector<uint8_t>> TCPStore::multiGet(const std::vector<std::string>& keys) {
  const std::string answer = client_->good(waiting(Op::multi_get, timeout_, keys), timeout_, listed(keys));
  tcp::Reader in(answer);
  in.byte();
  std::vector<std::vector<uint8_t>> values;
  for (uint32_t n = in.count(); n > 0; --n) values.push_back(bytes_of(std::string(in.text())));
  if (values.size() != keys.size())
    throw tcp::Malformed(detail::str(values.size(), " values for ", keys.size(), " keys"));
  return values;
}

void TCPStore::multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
  HB_CHECK(keys.size() == values.size(), "[multiSet] expected a value for each key, got ", keys.size(), " keys and ",
           values.size(), " values");
  Writer out = request(Op::multi_set);
  out.number(static_cast<int64_t>(keys.size()));
  for (size_t i = 0; i < keys.size(); ++i) out.text("/" + keys[i]), out.text(view(values[i]));
  client_->good(std::move(out), kAtOnce, listed(keys));
}

bool TCPStore::hasExtendedApi() const { return true; }

void TCPStore::queuePush(const std::string& key, const std::vector<uint8_t>& value) {
  Writer out = request(Op::push, key);
  out.text(view(value));
  client_->good(std::move(out), kAtOnce, key);
}

std::vector<uint8_t> TCPStore::queuePop(const std::string& key, bool block) {
  Writer out = waiting(Op::pop, timeout_, {key});
  out.number(block);
  const std::string answer = client_->good(std::move(out), timeout_, key);
  tcp::Reader in(answer);
  in.byte();
  return bytes_of(std::string(in.text()));
}

int64_t TCPStore::queueLen(const std::string& key) { return client_->number(request(Op::queue_length, key), key); }

}  // namespace hb::distributed
