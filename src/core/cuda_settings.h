#pragma once
// What programs ask of CUDA's libraries, for the library that calls them.

#include <atomic>

#include <halfbridge/macros.h>

namespace hb {

struct CudaSettings {
  std::atomic<bool> cublas_tf32{false}, cublas_fp16_reduction{true}, cublas_bf16_reduction{true};
  std::atomic<bool> cudnn_enabled{true}, cudnn_tf32{true}, cudnn_benchmark{false}, cudnn_deterministic{false};
  std::atomic<bool> deterministic_algorithms{false};  // of all libraries
  /// Whether cuDNN may only add in an order that is fixed.
  bool deterministic() const {
    return cudnn_deterministic.load(std::memory_order_relaxed) ||
           deterministic_algorithms.load(std::memory_order_relaxed);
  }
};
HB_API CudaSettings& cuda_settings();

}  // namespace hb
