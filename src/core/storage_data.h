#pragma once
// Whose the memory of a storage is.

#include <memory>

#include <halfbridge/storage.h>

namespace hb {

/// A block of the engine's memory that its storage has given away.
struct StorageImpl::Block {
  Block() = default;
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* memory = nullptr;
  size_t bytes = 0;
  Device device = kCPU;
};

/// The deleter of a storage whose memory a DataPtr owns, and the block in which the storage itself lies, if it does.
struct StorageImpl::Foreign {
  std::shared_ptr<DataPtr> data;
  std::shared_ptr<Block> home;
  void operator()(void* /*address*/) const { data->clear(); }
};

/// Bytes of a block of the CPU's before the memory of its storage.
constexpr size_t kStorageHeader = 64;
static_assert(sizeof(StorageImpl) <= kStorageHeader);

}  // namespace hb
