#pragma once

#include <halfbridge/distributed/store.h>

namespace hb::distributed {

/// Keys of another store that begin with `prefix` and a slash.
class HB_API PrefixStore : public Store {
 public:
  explicit PrefixStore(std::string prefix, intrusive_ptr<Store> store);
  ~PrefixStore() override;
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
  const std::chrono::milliseconds& getTimeout() const noexcept override;
  void setTimeout(const std::chrono::milliseconds& timeout) override;
  intrusive_ptr<Store> getUnderlyingStore();
  /// The store below all prefixes.
  intrusive_ptr<Store> getUnderlyingNonPrefixStore();

 protected:
  std::string joinKey(const std::string& key);
  std::vector<std::string> joinKeys(const std::vector<std::string>& keys);

  std::string prefix_;
  intrusive_ptr<Store> store_;
};

}  // namespace hb::distributed
