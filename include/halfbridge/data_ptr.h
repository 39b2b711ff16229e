#pragma once

#include <cstddef>
#include <utility>

#include <halfbridge/device.h>
#include <halfbridge/error.h>

namespace hb {

using DeleterFnPtr = void (*)(void*);

/// An address with what owns it: `deleter` is called with `context` when the DataPtr is gone. Without a deleter it owns
/// nothing.
class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, Device device) : data_(data), device_(device) {}
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device)
      : data_(data), context_(context), deleter_(deleter), device_(device) {}
  DataPtr(DataPtr&& other) noexcept { swap(other); }
  DataPtr& operator=(DataPtr&& other) noexcept {
    DataPtr taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~DataPtr() { clear(); }

  void* get() const { return data_; }
  void* mutable_get() { return data_; }
  void* operator->() const { return data_; }
  explicit operator bool() const { return data_ || context_; }
  Device device() const { return device_; }
  void unsafe_set_device(Device device) { device_ = device; }

  void* get_context() const { return context_; }
  DeleterFnPtr get_deleter() const { return deleter_; }
  /// Gives the context up without calling its deleter; the caller owns it.
  void* release_context() {
    deleter_ = nullptr;
    return std::exchange(context_, nullptr);
  }
  /// The context as T, if `expected` is what frees it, else null.
  template <class T>
  T* cast_context(DeleterFnPtr expected) const {
    return deleter_ == expected ? static_cast<T*>(context_) : nullptr;
  }
  /// Puts another deleter where `expected` is the present one; whether it was.
  bool compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr wanted) {
    if (deleter_ != expected) return false;
    deleter_ = wanted;
    return true;
  }
  void clear() {
    if (context_ && deleter_) deleter_(context_);
    data_ = context_ = nullptr;
  }

 private:
  void swap(DataPtr& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(context_, other.context_);
    std::swap(deleter_, other.deleter_);
    std::swap(device_, other.device_);
  }
  void* data_ = nullptr;
  void* context_ = nullptr;
  DeleterFnPtr deleter_ = nullptr;
  Device device_ = kCPU;
};
inline bool operator==(const DataPtr& p, std::nullptr_t) { return !p; }
inline bool operator==(std::nullptr_t, const DataPtr& p) { return !p; }
inline bool operator!=(const DataPtr& p, std::nullptr_t) { return static_cast<bool>(p); }
inline bool operator!=(std::nullptr_t, const DataPtr& p) { return static_cast<bool>(p); }

/// A source of memory as programs write it; a Storage can be made with one. The tensors that functions make have
/// memory of the engine's own.
class HB_API Allocator {
 public:
  virtual ~Allocator();
  virtual DataPtr allocate(size_t bytes) = 0;
  virtual void copy_data(void* to, const void* from, size_t bytes) const = 0;
  /// What frees a context, for allocators whose contexts are the addresses themselves; else null.
  virtual DeleterFnPtr raw_deleter() const { return nullptr; }
  virtual bool is_simple_data_ptr(const DataPtr& data) const { return data.get_context() == data.get(); }

  DataPtr clone(const void* data, size_t bytes);
  /// Memory without a DataPtr, to be given back to raw_deallocate. Throws where there is no raw_deleter.
  void* raw_allocate(size_t bytes);
  void raw_deallocate(void* data);

 protected:
  void default_copy_data(void* to, const void* from, size_t bytes) const;
};

/// That of the CPU, 64-byte aligned; throws for other devices.
HB_API Allocator* GetAllocator(const DeviceType& type);
HB_API Allocator* GetCPUAllocator();
inline Allocator* GetDefaultCPUAllocator() { return GetCPUAllocator(); }
inline Allocator* getCPUAllocator() { return GetCPUAllocator(); }

}  // namespace hb
