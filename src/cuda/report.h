#pragma once
// What kernels found wrong: a bad index, say. They write it into memory of the host; whoever waits for the device next
// throws it, with the function's name.

#include "cuda/runtime.h"

namespace hb::cuda {

struct Report {
  static constexpr int kClaimed = 1, kFilled = 2;
  int taken;  // 0: free
  // What the reporter was made with: host addresses.
  const char *name, *said;
  long long dim, value, limit;
};

/// The report that kernels of this device may write into, the name that they write, and what is said then: a text in
/// which {value}, {limit} and {dim} stand for numbers.
struct Reporter {
  Report* report;
  const char *name, *said;
  long long dim;
#ifdef HB_DEVICE_CODE
  /// The value is not within [-limit, limit) or [0, limit).
  __device__ void out_of_range(long long value, long long limit) const {
    if (atomicCAS(&report->taken, 0, Report::kClaimed) != 0) return;
    report->name = name;
    report->said = said;
    report->dim = dim;
    report->value = value;
    report->limit = limit;
    __threadfence_system();
    *const_cast<volatile int*>(&report->taken) = Report::kFilled;
  }
#endif
};
/// For a kernel of the function `name`, or of the current one. `said` lasts as long as the program.
Reporter reporter(const char* name = nullptr, const char* said = nullptr, long long dim = 0);
/// Throws "[name] …" if some kernel that has run reported something.
void throw_reports();
/// CUDA_LAUNCH_BLOCKING=1: every function waits for its kernels, so that errors are told where they were made.
bool blocking();

}  // namespace hb::cuda
