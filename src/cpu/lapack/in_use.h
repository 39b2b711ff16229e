#pragma once

namespace hb::cpu::lapack {

/// While it lives the calling thread uses LAPACK. OpenBLAS frees its memory when the process ends: by then a thread
/// that computes is waited for, and others, except the one that ends the process, get no further.
class InUse {
 public:
  InUse();
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
};

}  // namespace hb::cpu::lapack
