#pragma once

#include "cuda/runtime.h"
#include "cuda/scratch.h"

namespace hb::cuda {

/// n elements that begin at a multiple of 16 bytes: those at `from`, or a copy, for the kernels that are launched while
/// it lives.
template <class T>
class Aligned {
 public:
  Aligned(const void* from, int64_t n)
      : copy_(reinterpret_cast<uintptr_t>(from) % 16 == 0 ? 0 : n),
        at(copy_.get() ? copy_.get() : static_cast<const T*>(from)) {
    if (copy_.get())
      check(cudaMemcpyAsync(copy_.get(), from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyDeviceToDevice,
                            current_stream()),
            current_function());
  }

 private:
  const Scratch<T> copy_;

 public:
  const T* const at;
};

}  // namespace hb::cuda
