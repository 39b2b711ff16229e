#include "cuda/report.h"

#include <atomic>
#include <cstring>
#include <string>

#include <halfbridge/error.h>

#include "cuda/streams.h"

namespace hb::cuda {
namespace {

Report* memory() {
  static Report* const report = [] {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(Report), cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    std::memset(memory, 0, sizeof(Report));
    return static_cast<Report*>(memory);
  }();
  return report;
}
std::atomic<bool> watched{false};

}  // namespace

void fail(cudaError_t code, const char* what) {
  const std::string text = cudaGetErrorString(code);
  cudaGetLastError();
  HB_CHECK(false, "[", what, "] CUDA error: ", text);
  __builtin_unreachable();
}

Reporter reporter(const char* name) {
  watched.store(true, std::memory_order_relaxed);
  return {memory(), name ? name : current_function()};
}

void throw_reports() {
  if (HB_LIKELY(!watched.load(std::memory_order_relaxed))) return;
  volatile Report* const found = memory();
  if (!found->taken) return;
  const char* const name = found->name;
  const long long value = found->value, limit = found->limit;
  found->taken = 0;
  HB_CHECK_INDEX(false, "[", name ? name : "kernel", "] index ", value, " is out of range for a size of ", limit,
                 " (found on the device; CUDA_LAUNCH_BLOCKING=1 says it at the call)");
}

}  // namespace hb::cuda
