#include "handles.h"

#include <mutex>
#include <unordered_map>

namespace hb::graph {

namespace {

/// Never destroyed: graphs may end with the process.
template <class T>
struct Pool {
  std::mutex mutex;
  std::unordered_map<const void*, std::weak_ptr<const T>> known;
  static Pool& of() {
    static Pool* pool = new Pool;
    return *pool;
  }
};

template <class T>
std::shared_ptr<const T> shared(const void* key, const T& value) {
  Pool<T>& pool = Pool<T>::of();
  const std::lock_guard lock(pool.mutex);
  auto& slot = pool.known[key];
  if (auto handle = slot.lock()) return handle;
  // The entry goes before the object, whose address another may get.
  std::shared_ptr<const T> handle(new T(value), [key](const T* t) {
    {
      Pool<T>& in = Pool<T>::of();
      const std::lock_guard lock(in.mutex);
      if (const auto at = in.known.find(key); at != in.known.end() && at->second.expired()) in.known.erase(at);
    }
    delete t;
  });
  slot = handle;
  return handle;
}

}  // namespace

int64_t handles_of(const StorageImpl& storage) {
  auto& pool = Pool<intrusive_ptr<StorageImpl>>::of();
  const std::lock_guard lock(pool.mutex);
  const auto at = pool.known.find(&storage);
  return at != pool.known.end() && !at->second.expired();
}

TensorHandle handle_of(const Tensor& t) { return shared(&t.impl(), t); }
StorageHandle handle_of(const intrusive_ptr<StorageImpl>& storage) { return shared(storage.get(), storage); }

}  // namespace hb::graph
