#include <halfbridge/distributed/file_store.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "distributed/text.h"

namespace hb::distributed {

namespace {

constexpr uint32_t kDeleted = 0xffffffff;
constexpr uint32_t kLargest = uint32_t{1} << 30;  // of a key or a value
const std::string kLeft = "-left";                // how many stores were destroyed; a program's keys begin with +

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw DistStoreError(detail::str("[FileStore] ", what, " ", path, ": ", strerror(errno)));
}

struct Head {
  uint32_t key, value;
};

}  // namespace

/// The open file, locked.
struct FileStore::File {
  const std::string& path;
  int fd;

  explicit File(const std::string& path) : path(path), fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd < 0) fail(path, "cannot open");
    while (flock(fd, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      close(fd);
      fail(path, "cannot lock");
    }
  }
  ~File() { close(fd); }  // which unlocks it
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  size_t size() const {
    struct stat state;
    if (fstat(fd, &state) != 0) fail(path, "cannot look at");
    return static_cast<size_t>(state.st_size);
  }
  void read(size_t at, void* to, size_t n) const {
    for (size_t done = 0; done < n;) {
      const ssize_t got = pread(fd, static_cast<char*>(to) + done, n - done, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(path, "cannot read");
      done += static_cast<size_t>(got);
    }
  }
  /// Appends a change after the last whole one, over what a process that was killed has left of its own.
  size_t append(size_t at, const std::string& key, const std::vector<uint8_t>* value) const {
    HB_CHECK(key.size() < kLargest && (!value || value->size() < kLargest),
             "[FileStore] expected keys and values below 1 GiB, got ", key.size(), " and ", value ? value->size() : 0,
             " bytes");
    const Head head{static_cast<uint32_t>(key.size()), value ? static_cast<uint32_t>(value->size()) : kDeleted};
    std::string text(reinterpret_cast<const char*>(&head), sizeof(head));
    text += key;
    if (value) text.append(value->begin(), value->end());
    if (ftruncate(fd, static_cast<off_t>(at)) != 0) fail(path, "cannot write");
    for (size_t done = 0; done < text.size();) {
      const ssize_t put = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(at + done));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) fail(path, "cannot write");
      done += static_cast<size_t>(put);
    }
    return at + text.size();
  }
};

FileStore::FileStore(std::string path, int numWorkers) : path_(std::move(path)), workers_(numWorkers) {}

FileStore::~FileStore() {
  if (workers_ <= 0) return;
  try {
    if (add_plain(kLeft, 1) == workers_) unlink(path_.c_str());
  } catch (const Error&) {  // the file or its folder is gone already
  }
}

intrusive_ptr<Store> FileStore::clone() {
  auto copy = make_intrusive<FileStore>(path_, -1);
  copy->setTimeout(timeout_);
  return copy;
}

/// Reads what other processes have appended.
void FileStore::read_changes(File& file) {
  const size_t size = file.size();
  if (size < position_) {  // another file of that name
    position_ = 0;
    cache_.clear();
  }
  while (size - position_ >= sizeof(Head)) {
    Head head;
    file.read(position_, &head, sizeof(head));
    const bool deleted = head.value == kDeleted;
    HB_CHECK(head.key < kLargest && (deleted || head.value < kLargest), "[FileStore] expected a store's file, got ",
             path_, ", which has an entry of ", head.key, " and ", head.value, " bytes");
    const size_t value = deleted ? 0 : head.value;
    if (size - position_ - sizeof(head) < head.key + value) break;
    std::string key(head.key, '\0');
    file.read(position_ + sizeof(head), key.data(), key.size());
    if (deleted) {
      cache_.erase(key);
    } else {
      std::vector<uint8_t> bytes(value);
      file.read(position_ + sizeof(head) + key.size(), bytes.data(), value);
      cache_[key] = std::move(bytes);
    }
    position_ += sizeof(head) + key.size() + value;
  }
}

void FileStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  File file(path_);
  read_changes(file);
  file.append(position_, "+" + key, &value);
}

std::vector<uint8_t> FileStore::compareSet(const std::string& key, const std::vector<uint8_t>& currentValue,
                                           const std::vector<uint8_t>& newValue) {
  std::lock_guard<std::mutex> lock(mutex_);
  File file(path_);
  read_changes(file);
  const auto found = cache_.find("+" + key);
  if (found == cache_.end() ? !currentValue.empty() : found->second != currentValue)
    return found == cache_.end() ? currentValue : found->second;
  file.append(position_, "+" + key, &newValue);
  return newValue;
}

std::vector<uint8_t> FileStore::get(const std::string& key) {
  wait({key});
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = cache_.find("+" + key);
  if (found == cache_.end()) throw DistStoreError("[FileStore] the key '" + key + "' was deleted while it was read");
  return found->second;
}

int64_t FileStore::add_plain(const std::string& key, int64_t value) {
  std::lock_guard<std::mutex> lock(mutex_);
  File file(path_);
  read_changes(file);
  const auto found = cache_.find(key);
  const int64_t sum = value + (found == cache_.end() ? 0 : number_of(key, found->second));
  const std::vector<uint8_t> text = bytes_of(std::to_string(sum));
  file.append(position_, key, &text);
  return sum;
}

int64_t FileStore::add(const std::string& key, int64_t value) { return add_plain("+" + key, value); }

bool FileStore::deleteKey(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  File file(path_);
  read_changes(file);
  if (cache_.count("+" + key) == 0) return false;
  file.append(position_, "+" + key, nullptr);
  return true;
}

bool FileStore::check(const std::vector<std::string>& keys) {
  std::lock_guard<std::mutex> lock(mutex_);
  File file(path_);
  read_changes(file);
  for (const auto& key : keys)
    if (cache_.count("+" + key) == 0) return false;
  return true;
}

int64_t FileStore::getNumKeys() { return static_cast<int64_t>(listKeys().size()); }

std::vector<std::string> FileStore::listKeys() {
  std::lock_guard<std::mutex> lock(mutex_);
  File file(path_);
  read_changes(file);
  std::vector<std::string> keys;
  for (const auto& [key, value] : cache_)
    if (key[0] == '+') keys.push_back(key.substr(1));
  return keys;
}

void FileStore::wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }

void FileStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::chrono::milliseconds pause{1}; !check(keys); pause = std::min(2 * pause, std::chrono::milliseconds(16))) {
    if (timeout != kNoTimeout && std::chrono::steady_clock::now() - begin >= timeout)
      throw DistStoreError(detail::str("[FileStore] wait timeout after ", timeout.count(), "ms, keys: ", listed(keys)));
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace hb::distributed
