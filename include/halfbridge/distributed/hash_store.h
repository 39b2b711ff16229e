#pragma once

#include <halfbridge/distributed/store.h>

#include <condition_variable>
#include <deque>
#include <unordered_map>

namespace hb::distributed {

/// A store in the memory of one process, shared by its threads.
class HB_API HashStore : public Store {
 public:
  ~HashStore() override = default;
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

 private:
  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout, const std::string& what,
                  Condition condition);

  std::unordered_map<std::string, std::vector<uint8_t>> map_;
  std::unordered_map<std::string, std::deque<std::vector<uint8_t>>> queues_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace hb::distributed
