#include "cuda/report.h"

#include <atomic>
#include <cstring>
#include <string>

#include <halfbridge/more_errors.h>

#include "cuda/streams.h"

namespace hb::cuda {
namespace {

Report* memory() {
  static Report* const report = [] {
    void* memory = nullptr;
    const Unrecorded guard;
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
  throw AcceleratorError({__func__, __FILE__, __LINE__}, code, detail::str("[", what, "] CUDA error: ", text));
}

Reporter reporter(const char* name, const char* said, long long dim) {
  watched.store(true, std::memory_order_relaxed);
  return {memory(), name ? name : current_function(), said, dim};
}

namespace {
std::string filled(std::string text, const char* place, long long number) {
  const size_t at = text.find(place);
  return at == std::string::npos ? text : text.replace(at, std::strlen(place), std::to_string(number));
}
}  // namespace

void throw_reports() {
  if (HB_LIKELY(!watched.load(std::memory_order_relaxed))) return;
  volatile Report* const found = memory();
  if (found->taken != Report::kFilled) return;
  const char* const name = found->name;
  std::string text = found->said ? found->said : "index {value} is out of range for a size of {limit}";
  text = filled(filled(filled(text, "{value}", found->value), "{limit}", found->limit), "{dim}", found->dim);
  found->taken = 0;
  HB_CHECK_INDEX(false, "[", name ? name : "kernel", "] ", text,
                 blocking() ? "" : " (found on the device; CUDA_LAUNCH_BLOCKING=1 says it at the call)");
}

}  // namespace hb::cuda
