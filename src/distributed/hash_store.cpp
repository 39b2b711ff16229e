#include <halfbridge/distributed/hash_store.h>

#include "distributed/text.h"

namespace hb::distributed {

intrusive_ptr<Store> HashStore::clone() { return intrusive_ptr<Store>(this); }

template <class Condition>
void HashStore::wait_until(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout,
                           const std::string& what, Condition condition) {
  if (timeout == kNoTimeout) return changed_.wait(lock, condition);
  if (!changed_.wait_for(lock, timeout, condition))
    throw DistStoreError(detail::str("[HashStore] wait timeout after ", timeout.count(), "ms, keys: ", what));
}

void HashStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  map_[key] = value;
  changed_.notify_all();
}

std::vector<uint8_t> HashStore::compareSet(const std::string& key, const std::vector<uint8_t>& currentValue,
                                           const std::vector<uint8_t>& newValue) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = map_.find(key);
  if (found == map_.end() ? !currentValue.empty() : found->second != currentValue)
    return found == map_.end() ? currentValue : found->second;
  map_[key] = newValue;
  changed_.notify_all();
  return newValue;
}

std::vector<uint8_t> HashStore::get(const std::string& key) {
  std::unique_lock<std::mutex> lock(mutex_);
  wait_until(lock, timeout_, key, [&] { return map_.count(key) != 0; });
  return map_[key];
}

int64_t HashStore::add(const std::string& key, int64_t value) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = map_.find(key);
  const int64_t sum = value + (found == map_.end() ? 0 : number_of(key, found->second));
  map_[key] = bytes_of(std::to_string(sum));
  changed_.notify_all();
  return sum;
}

bool HashStore::deleteKey(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  return map_.erase(key) != 0;
}

bool HashStore::check(const std::vector<std::string>& keys) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& key : keys)
    if (map_.count(key) == 0) return false;
  return true;
}

int64_t HashStore::getNumKeys() {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(map_.size());
}

void HashStore::wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }

void HashStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  wait_until(lock, timeout, listed(keys), [&] {
    for (const auto& key : keys)
      if (map_.count(key) == 0) return false;
    return true;
  });
}

std::vector<std::string> HashStore::listKeys() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, value] : map_) keys.push_back(key);
  return keys;
}

void HashStore::append(const std::string& key, const std::vector<uint8_t>& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& bytes = map_[key];
  bytes.insert(bytes.end(), value.begin(), value.end());
  changed_.notify_all();
}

std::vector<std::vector<uint8_t>> HashStore::multiGet(const std::vector<std::string>& keys) {
  std::vector<std::vector<uint8_t>> values;
  for (const auto& key : keys) values.push_back(get(key));
  return values;
}

void HashStore::multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
  HB_CHECK(keys.size() == values.size(), "[multiSet] expected a value for each key, got ", keys.size(), " keys and ",
           values.size(), " values");
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < keys.size(); ++i) map_[keys[i]] = values[i];
  changed_.notify_all();
}

bool HashStore::hasExtendedApi() const { return true; }

void HashStore::queuePush(const std::string& key, const std::vector<uint8_t>& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  queues_[key].push_back(value);
  changed_.notify_all();
}

std::vector<uint8_t> HashStore::queuePop(const std::string& key, bool block) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto filled = [&] {
    const auto found = queues_.find(key);
    return found != queues_.end() && !found->second.empty();
  };
  if (block) wait_until(lock, timeout_, key, filled);
  if (!filled()) throw DistQueueEmptyError("[queuePop] the queue '" + key + "' is empty");
  auto& queue = queues_[key];
  std::vector<uint8_t> value = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) queues_.erase(key);
  return value;
}

int64_t HashStore::queueLen(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = queues_.find(key);
  return found == queues_.end() ? 0 : static_cast<int64_t>(found->second.size());
}

}  // namespace hb::distributed
