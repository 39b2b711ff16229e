#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include <halfbridge/data_ptr.h>
#include <halfbridge/device.h>
#include <halfbridge/intrusive_ptr.h>

namespace hb {

struct SparseParts;
namespace capture {
/// How many threads record a step for graph mode: while none does, what asks costs one branch.
HB_API extern std::atomic<int> recording_threads;
}  // namespace capture

/// The bytes of one or more tensors. Ours lie in one block behind this header; foreign ones have a deleter. That of a
/// tensor of a sparse layout holds its indices and values in place of bytes: data() then throws, so that no function
/// can take it for a strided one.
class HB_API StorageImpl final : public intrusive_ptr_target {
 public:
  using Deleter = std::function<void(void*)>;
  /// Fresh memory, 64-byte aligned, not initialised.
  static intrusive_ptr<StorageImpl> allocate(size_t nbytes, Device device);
  /// Memory of somebody else; `deleter` (may be empty) is called with `data` when the last tensor is gone.
  static intrusive_ptr<StorageImpl> borrow(void* data, size_t nbytes, Device device, Deleter deleter);
  /// What a sparse tensor consists of (src/core/sparse_parts.h).
  static intrusive_ptr<StorageImpl> of_sparse(std::unique_ptr<SparseParts> parts, Device device);
  ~StorageImpl() override;

  void* data() const {
    if (HB_UNLIKELY(layout_ != kStrided)) fail_sparse();
    return data_;
  }
  /// That of the tensor that it belongs to, where it is not strided.
  Layout layout() const { return layout_; }
  /// Of such a tensor's storage alone.
  SparseParts& sparse_parts() const { return *static_cast<SparseParts*>(data_); }
  size_t nbytes() const { return nbytes_; }
  const Device& device() const { return device_; }
  bool is_borrowed() const { return borrowed_; }
  /// The program was given the address of this memory (data_ptr(), accessors, DLPack, …) and may use it as long as the
  /// tensor lives: in-place functions may not give the tensor other memory.
  bool address_shown() const { return address_shown_.load(std::memory_order_relaxed); }
  void show_address() {
    if (HB_UNLIKELY(!address_shown() || capture::recording_threads.load(std::memory_order_relaxed) != 0))
      note_shown_address();
  }
  // The same as programs ask for it; the address of none of the engine's bytes is null.
  void* mutable_data() const {
    void* const begin = data();
    return nbytes_ == 0 && !borrowed_ ? nullptr : begin;
  }
  size_t sym_nbytes() const { return nbytes_; }
  DeviceType device_type() const { return device_.type(); }
  Allocator* allocator() const { return GetAllocator(device_.type()); }
  /// The address; the storage stays its owner. const, since programs bind `auto& p = s.data_ptr()` to it.
  const DataPtr data_ptr() const { return {mutable_data(), device_}; }  // NOLINT
  bool resizable() const { return !borrowed_; }
  /// Puts other memory behind all tensors of this storage. What it had is returned with its owner, or freed by the
  /// second form. Throws where devices differ, and while a step is captured.
  DataPtr set_data_ptr(DataPtr&& data);
  void set_data_ptr_noswap(DataPtr&& data) { set_data_ptr(std::move(data)); }
  /// What nbytes() says from now on; no memory is allocated. Throws where the engine's own block is smaller.
  void set_nbytes(size_t nbytes);
  void unsafe_set_nbytes(size_t nbytes) { set_nbytes(nbytes); }
  void UniqueStorageShareExternalPointer(DataPtr&& data, size_t nbytes);
  void UniqueStorageShareExternalPointer(void* data, size_t nbytes, DeleterFnPtr deleter = nullptr) {
    UniqueStorageShareExternalPointer(DataPtr(data, data, deleter, device_), nbytes);
  }
  /// Frees the memory; nothing is left.
  void reset();

 private:
  friend class Storage;
  struct Block;
  struct Foreign;
  static intrusive_ptr<StorageImpl> of_data_ptr(DataPtr&& data, size_t nbytes);
  DataPtr take_data();
  StorageImpl(void* data, size_t nbytes, Device device, size_t block_bytes, bool borrowed)
      : data_(data), nbytes_(nbytes), block_bytes_(block_bytes), device_(device), borrowed_(borrowed) {}
  void destroy() const override;
  void note_shown_address();
  [[noreturn]] void fail_sparse() const;

  void* data_;
  size_t nbytes_;
  size_t block_bytes_;
  Device device_;
  bool borrowed_;
  Layout layout_ = kStrided;
  bool in_block_ = false;  // the header lies in a block that is ours no more
  std::atomic<bool> address_shown_{false};
  Deleter* deleter_ = nullptr;
};

/// What `tensor.storage()` returns.
class Storage {
 public:
  Storage() = default;
  explicit Storage(intrusive_ptr<StorageImpl> impl) : impl_(std::move(impl)) {}
  struct use_byte_size_t {};
  /// Memory of an allocator of the program's own (null: the engine's), or what it allocated before.
  HB_API Storage(use_byte_size_t, size_t nbytes, Allocator* allocator = nullptr, bool resizable = false);
  HB_API Storage(use_byte_size_t, size_t nbytes, DataPtr data, Allocator* allocator = nullptr, bool resizable = false);
  void* data() const { return impl_->mutable_data(); }
  void* mutable_data() const { return impl_->mutable_data(); }
  /// As StorageImpl's.
  const DataPtr data_ptr() const { return impl_->data_ptr(); }  // NOLINT
  DataPtr mutable_data_ptr() const { return impl_->data_ptr(); }
  template <class T>
  T* unsafe_data() const {
    return static_cast<T*>(data());
  }
  size_t nbytes() const { return impl_ ? impl_->nbytes() : 0; }
  size_t sym_nbytes() const { return nbytes(); }
  Device device() const { return impl_->device(); }
  DeviceType device_type() const { return impl_->device_type(); }
  Allocator* allocator() const { return impl_->allocator(); }
  /// Whether tensors may grow it: all but foreign memory.
  bool resizable() const { return !impl_->is_borrowed(); }
  int64_t use_count() const { return impl_.use_count(); }
  bool unique() const { return use_count() == 1; }
  bool is_alias_of(const Storage& o) const { return impl_ == o.impl_; }
  StorageImpl* unsafeGetStorageImpl() const { return impl_.get(); }
  const intrusive_ptr<StorageImpl>& getIntrusivePtr() const { return impl_; }
  weak_intrusive_ptr<StorageImpl> getWeakStorageImpl() const { return weak_intrusive_ptr<StorageImpl>(impl_); }
  explicit operator bool() const { return static_cast<bool>(impl_); }
  /// No bytes, on that device.
  static Storage create_legacy(Device device) { return Storage(StorageImpl::allocate(0, device)); }
  // StorageImpl says what they do.
  DataPtr set_data_ptr(DataPtr&& data) const { return impl_->set_data_ptr(std::move(data)); }
  void set_data_ptr_noswap(DataPtr&& data) const { impl_->set_data_ptr_noswap(std::move(data)); }
  void set_nbytes(size_t nbytes) const { impl_->set_nbytes(nbytes); }
  /// Throws where there is another owner.
  template <class... Args>
  void UniqueStorageShareExternalPointer(Args&&... args) {
    check_unique();
    impl_->UniqueStorageShareExternalPointer(std::forward<Args>(args)...);
  }
  /// Gives the handle away as a pointer that somebody must reclaim.
  StorageImpl* unsafeReleaseStorageImpl() { return impl_.release(); }

 private:
  HB_API void check_unique() const;
  intrusive_ptr<StorageImpl> impl_;
};

inline bool isSharedStorageAlias(const Storage& a, const Storage& b) { return a.is_alias_of(b); }

/// Bytes of tensor memory now in use, and the most there were since the last reset; on this device.
HB_API size_t memory_in_use(Device device = kCPU);
HB_API size_t peak_memory(Device device = kCPU);
HB_API void reset_peak_memory(Device device = kCPU);

}  // namespace hb
