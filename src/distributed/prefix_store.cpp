#include <halfbridge/distributed/prefix_store.h>

namespace hb::distributed {

PrefixStore::PrefixStore(std::string prefix, intrusive_ptr<Store> store)
    : prefix_(std::move(prefix)), store_(std::move(store)) {
  HB_CHECK(store_, "[PrefixStore] expected a store, got null");
}
PrefixStore::~PrefixStore() = default;

std::string PrefixStore::joinKey(const std::string& key) { return prefix_ + "/" + key; }

std::vector<std::string> PrefixStore::joinKeys(const std::vector<std::string>& keys) {
  std::vector<std::string> joined;
  for (const auto& key : keys) joined.push_back(joinKey(key));
  return joined;
}

intrusive_ptr<Store> PrefixStore::clone() { return make_intrusive<PrefixStore>(prefix_, store_->clone()); }

void PrefixStore::set(const std::string& key, const std::vector<uint8_t>& value) { store_->set(joinKey(key), value); }
std::vector<uint8_t> PrefixStore::compareSet(const std::string& key, const std::vector<uint8_t>& currentValue,
                                             const std::vector<uint8_t>& newValue) {
  return store_->compareSet(joinKey(key), currentValue, newValue);
}
std::vector<uint8_t> PrefixStore::get(const std::string& key) { return store_->get(joinKey(key)); }
int64_t PrefixStore::add(const std::string& key, int64_t value) { return store_->add(joinKey(key), value); }
bool PrefixStore::deleteKey(const std::string& key) { return store_->deleteKey(joinKey(key)); }
bool PrefixStore::check(const std::vector<std::string>& keys) { return store_->check(joinKeys(keys)); }
int64_t PrefixStore::getNumKeys() { return store_->getNumKeys(); }
void PrefixStore::wait(const std::vector<std::string>& keys) { store_->wait(joinKeys(keys)); }
void PrefixStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  store_->wait(joinKeys(keys), timeout);
}
const std::chrono::milliseconds& PrefixStore::getTimeout() const noexcept { return store_->getTimeout(); }
void PrefixStore::setTimeout(const std::chrono::milliseconds& timeout) { store_->setTimeout(timeout); }
void PrefixStore::append(const std::string& key, const std::vector<uint8_t>& value) {
  store_->append(joinKey(key), value);
}
std::vector<std::vector<uint8_t>> PrefixStore::multiGet(const std::vector<std::string>& keys) {
  return store_->multiGet(joinKeys(keys));
}
void PrefixStore::multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
  store_->multiSet(joinKeys(keys), values);
}
bool PrefixStore::hasExtendedApi() const { return store_->hasExtendedApi(); }
void PrefixStore::queuePush(const std::string& key, const std::vector<uint8_t>& value) {
  store_->queuePush(joinKey(key), value);
}
std::vector<uint8_t> PrefixStore::queuePop(const std::string& key, bool block) {
  return store_->queuePop(joinKey(key), block);
}
int64_t PrefixStore::queueLen(const std::string& key) { return store_->queueLen(joinKey(key)); }

std::vector<std::string> PrefixStore::listKeys() {
  std::vector<std::string> keys;
  for (const auto& key : store_->listKeys())
    if (key.compare(0, prefix_.size() + 1, prefix_ + "/") == 0) keys.push_back(key.substr(prefix_.size() + 1));
  return keys;
}

intrusive_ptr<Store> PrefixStore::getUnderlyingStore() { return store_; }

intrusive_ptr<Store> PrefixStore::getUnderlyingNonPrefixStore() {
  intrusive_ptr<Store> store = store_;
  while (auto* prefixed = dynamic_cast<PrefixStore*>(store.get())) store = prefixed->getUnderlyingStore();
  return store;
}

}  // namespace hb::distributed
