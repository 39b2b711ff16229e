#pragma once
// What kernels found wrong: a bad index, say. They write it into memory of the host; whoever waits for the device next
// throws it, with the function's name.

#include "cuda/runtime.h"

namespace hb::cuda {

struct Report {
  int taken;         // 1 while it holds something
  const char* name;  // of the function, a host address
  long long value, limit;
};

/// The report that kernels of this device may write into, and the name that they write.
struct Reporter {
  Report* report;
  const char* name;
#ifdef HB_DEVICE_CODE
  /// The value is not within [-limit, limit) or [0, limit).
  __device__ void out_of_range(long long value, long long limit) const {
    if (atomicCAS(&report->taken, 0, 1) != 0) return;
    report->name = name;
    report->value = value;
    report->limit = limit;
    __threadfence();
  }
#endif
};
/// For a kernel of the function `name`, or of the current one.
Reporter reporter(const char* name = nullptr);
/// Throws "[name] index … is out of range …" if some kernel that has run reported so.
void throw_reports();

}  // namespace hb::cuda
