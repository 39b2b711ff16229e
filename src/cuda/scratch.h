#pragma once

#include "cuda/allocator.h"
#include "cuda/streams.h"

namespace hb::cuda {

/// Memory of the device for the kernels that are launched while it lives; `count` may be 0.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count) : device_(current_device()) {
    if (count > 0) memory_ = allocate(static_cast<size_t>(count) * sizeof(T), current_stream(), device_).memory;
  }
  ~Scratch() {
    if (memory_) free_block(memory_, device_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() const { return static_cast<T*>(memory_); }

 private:
  DeviceIndex device_;
  void* memory_ = nullptr;
};

}  // namespace hb::cuda
