#pragma once

#include <halfbridge/distributed/store.h>

#include <cstddef>
#include <unordered_map>

namespace hb::distributed {

/// A store in a file that all processes can reach: a log of changes under a lock of the file. When `numWorkers` is
/// positive, the last of so many stores to be destroyed removes the file.
class HB_API FileStore : public Store {
 public:
  explicit FileStore(std::string path, int numWorkers = -1);
  ~FileStore() override;
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
  const std::string& getPath() const noexcept { return path_; }

 private:
  struct File;
  void read_changes(File& file);
  int64_t add_plain(const std::string& key, int64_t value);

  std::string path_;
  size_t position_ = 0;  // what was read of the file
  int workers_;
  std::unordered_map<std::string, std::vector<uint8_t>> cache_;
  std::mutex mutex_;
};

}  // namespace hb::distributed
