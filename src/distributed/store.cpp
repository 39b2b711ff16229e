#include <halfbridge/distributed/store.h>

#include "distributed/text.h"

namespace hb::distributed {

Store::~Store() = default;

void Store::set(const std::string& key, const std::string& value) { set(key, bytes_of(value)); }

std::string Store::compareSet(const std::string& key, const std::string& currentValue, const std::string& newValue) {
  return text_of(compareSet(key, bytes_of(currentValue), bytes_of(newValue)));
}

std::vector<uint8_t> Store::compareSet(const std::string&, const std::vector<uint8_t>&, const std::vector<uint8_t>&) {
  HB_NOT_SUPPORTED("[compareSet] this store does not have it");
}

std::string Store::get_to_str(const std::string& key) { return text_of(get(key)); }

const std::chrono::milliseconds& Store::getTimeout() const noexcept { return timeout_; }

void Store::setTimeout(const std::chrono::milliseconds& timeout) { timeout_ = timeout; }

void Store::watchKey(const std::string&, WatchKeyCallback) {
  HB_NOT_SUPPORTED("watchKey is deprecated, no implementation support it.");
}

// Not one operation here: two processes that append at a time may lose what one of them wrote, unless the store has a
// form of its own. compareSet closes that gap.
void Store::append(const std::string& key, const std::vector<uint8_t>& value) {
  std::vector<uint8_t> expected;
  if (check({key})) expected = get(key);
  for (;;) {
    std::vector<uint8_t> joined = expected;
    joined.insert(joined.end(), value.begin(), value.end());
    std::vector<uint8_t> now = compareSet(key, expected, joined);
    if (now == joined) return;
    expected = std::move(now);
  }
}

std::vector<std::vector<uint8_t>> Store::multiGet(const std::vector<std::string>& keys) {
  std::vector<std::vector<uint8_t>> values;
  values.reserve(keys.size());
  for (const auto& key : keys) values.push_back(get(key));
  return values;
}

void Store::multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
  HB_CHECK(keys.size() == values.size(), "[multiSet] expected a value for each key, got ", keys.size(), " keys and ",
           values.size(), " values");
  for (size_t i = 0; i < keys.size(); ++i) set(keys[i], values[i]);
}

bool Store::hasExtendedApi() const { return false; }

void Store::queuePush(const std::string&, const std::vector<uint8_t>&) {
  HB_NOT_SUPPORTED("queue support is not implemented.");
}
std::vector<uint8_t> Store::queuePop(const std::string&, bool) {
  HB_NOT_SUPPORTED("queue support is not implemented.");
}
int64_t Store::queueLen(const std::string&) { HB_NOT_SUPPORTED("queue support is not implemented."); }
std::vector<std::string> Store::listKeys() { HB_NOT_SUPPORTED("listKeys support is not implemented."); }

}  // namespace hb::distributed
