#pragma once

#include <halfbridge/distributed/store.h>

#include <cstddef>
#include <memory>

namespace hb::distributed {

struct TCPStoreOptions {
  static constexpr uint16_t kDefaultPort = 29500;

  /// 0 lets the system choose; getPort() tells which.
  uint16_t port = kDefaultPort;
  bool isServer = false;
  std::optional<size_t> numWorkers = std::nullopt;
  /// The server's constructor waits until `numWorkers` stores have connected.
  bool waitWorkers = true;
  std::chrono::milliseconds timeout = Store::kDefaultTimeout;
  /// A second server of this process at the same host and port shares the first.
  bool multiTenant = false;
  /// A socket that listens already.
  std::optional<int> masterListenFd = std::nullopt;
  /// Accepted; there is one server.
  bool useLibUV = true;
};

/// A store that one process serves (with a thread of its own) to the others over TCP. The server listens on the address
/// of `host` alone; where that is none of this machine's addresses (behind a translation of addresses, say), the
/// constructor throws unless HALFBRIDGE_LISTEN names one (0.0.0.0: all). Where HALFBRIDGE_SECRET is set, a client has
/// to prove that it knows it. Keys of 64 KiB, values of 256 MiB and frames of 1 GiB are the largest; a client that
/// sends what is malformed is cut off.
class HB_API TCPStore : public Store {
 public:
  static constexpr std::chrono::milliseconds kConnectRetryDelay{1000};

  explicit TCPStore(std::string host, const TCPStoreOptions& options = {});
  ~TCPStore() override;
  intrusive_ptr<Store> clone() override;
  using Store::set;
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  using Store::compareSet;
  std::vector<uint8_t> compareSet(const std::string& key, const std::vector<uint8_t>& currentValue,
                                  const std::vector<uint8_t>& newValue) override;
  std::vector<uint8_t> get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  std::vector<std::string> listKeys() override;
  void append(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<std::vector<uint8_t>> multiGet(const std::vector<std::string>& keys) override;
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) override;
  bool hasExtendedApi() const override;
  void queuePush(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> queuePop(const std::string& key, bool block) override;
  int64_t queueLen(const std::string& key) override;
  void setTimeout(const std::chrono::milliseconds& timeout) override;
  /// Waits until all workers have connected.
  void waitForWorkers();
  const std::string& getHost() const noexcept { return host_; }
  uint16_t getPort() const noexcept { return port_; }
  bool isLibUvBackend() const noexcept { return false; }
  std::string repr() const;

 private:
  class Client;
  std::string host_;
  uint16_t port_;
  std::optional<size_t> workers_;
  std::shared_ptr<void> server_;  // the server's thread, where this process has it
  std::unique_ptr<Client> client_;
};

}  // namespace hb::distributed
