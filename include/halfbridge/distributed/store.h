#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/distributed/error.h>
#include <halfbridge/intrusive_ptr.h>

namespace hb::distributed {

using WatchKeyCallback = std::function<void(std::optional<std::string>, std::optional<std::string>)>;

/// Keys and values that the processes of a run share: how ranks find each other. Values are bytes. Functions may be
/// called from several threads. What waits for a key throws DistStoreError when the store's timeout passes, naming the
/// key.
class HB_API Store : public intrusive_ptr_target {
 public:
  static constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::seconds(300);
  static constexpr std::chrono::milliseconds kNoTimeout = std::chrono::milliseconds::zero();

  Store() : Store(kDefaultTimeout) {}
  explicit Store(const std::chrono::milliseconds& timeout) : timeout_(timeout) {}
  ~Store() override;

  /// Another handle to the same keys, with a connection of its own where there is one.
  virtual intrusive_ptr<Store> clone() = 0;

  void set(const std::string& key, const std::string& value);
  virtual void set(const std::string& key, const std::vector<uint8_t>& value) = 0;
  /// Sets `newValue` if the value is `currentValue`, or if the key does not exist and `currentValue` is empty. Returns
  /// the value after that; for a key that does not exist, `currentValue`.
  std::string compareSet(const std::string& key, const std::string& currentValue, const std::string& newValue);
  virtual std::vector<uint8_t> compareSet(const std::string& key, const std::vector<uint8_t>& currentValue,
                                          const std::vector<uint8_t>& newValue);
  /// The value; waits until there is one.
  std::string get_to_str(const std::string& key);
  virtual std::vector<uint8_t> get(const std::string& key) = 0;
  /// Adds to a number written in decimal, 0 at first; returns the sum.
  virtual int64_t add(const std::string& key, int64_t value) = 0;
  /// True if there was such a key.
  virtual bool deleteKey(const std::string& key) = 0;
  /// True if all keys exist; does not wait.
  virtual bool check(const std::vector<std::string>& keys) = 0;
  virtual int64_t getNumKeys() = 0;
  /// Waits until all keys exist, for at most the timeout (the store's where none is given; 0: without end).
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) = 0;

  virtual const std::chrono::milliseconds& getTimeout() const noexcept;
  virtual void setTimeout(const std::chrono::milliseconds& timeout);
  /// Not supported, as in LibTorch: throws.
  virtual void watchKey(const std::string& key, WatchKeyCallback callback);

  /// Appends to the value; a key that does not exist has an empty one.
  virtual void append(const std::string& key, const std::vector<uint8_t>& value);
  /// get and set of several keys.
  virtual std::vector<std::vector<uint8_t>> multiGet(const std::vector<std::string>& keys);
  virtual void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values);
  /// True if append, multiGet and multiSet are single operations of the store.
  virtual bool hasExtendedApi() const;

  /// Queues have names of their own beside the keys. A pop takes the oldest value: it waits for one if `block`, else
  /// throws DistQueueEmptyError where there is none.
  virtual void queuePush(const std::string& key, const std::vector<uint8_t>& value);
  virtual std::vector<uint8_t> queuePop(const std::string& key, bool block);
  virtual int64_t queueLen(const std::string& key);
  virtual std::vector<std::string> listKeys();

 protected:
  std::chrono::milliseconds timeout_;
};

/// Another timeout for a store within a scope.
class StoreTimeoutGuard {
 public:
  explicit StoreTimeoutGuard(Store& store, const std::chrono::milliseconds& timeout)
      : store_(store), before_(store.getTimeout()) {
    store.setTimeout(timeout);
  }
  ~StoreTimeoutGuard() { store_.setTimeout(before_); }
  StoreTimeoutGuard(const StoreTimeoutGuard&) = delete;
  StoreTimeoutGuard& operator=(const StoreTimeoutGuard&) = delete;

 private:
  Store& store_;
  std::chrono::milliseconds before_;
};

}  // namespace hb::distributed
