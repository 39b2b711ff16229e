#pragma once
// A bound on tensors that are made from what a file says.

#include <cstddef>

#include <halfbridge/macros.h>

namespace hb {

/// While it lives, making a tensor of more than `bytes` on this thread throws hb::Error. The innermost one counts.
class HB_API MemoryLimit {
 public:
  explicit MemoryLimit(size_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  size_t outer_;
};

}  // namespace hb
