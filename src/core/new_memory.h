#pragma once

#include <halfbridge/macros.h>

namespace hb::pending {

/// While it lives, kernels of this thread write to memory alone that is new, so that nothing that waits
/// (core/pending.h) reads it: it goes on waiting.
class HB_API NewMemory {
 public:
  NewMemory();
  ~NewMemory();
  NewMemory(const NewMemory&) = delete;
  NewMemory& operator=(const NewMemory&) = delete;

 private:
  bool before_;
};

}  // namespace hb::pending
