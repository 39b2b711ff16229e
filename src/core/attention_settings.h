#pragma once
// Which ways of computing attention programs allow.

#include <atomic>

#include <halfbridge/macros.h>

namespace hb {

struct AttentionSettings {
  /// The fused kernels, cuDNN's where it is used, and the formula made of functions.
  std::atomic<bool> flash{true}, cudnn{true}, math{true};
  /// Whether the formula computes half types in themselves, not in float.
  std::atomic<bool> half_math{false};
  // What other libraries have; no tensors here are computed so.
  std::atomic<bool> memory_efficient{true}, flash_3{false}, overrideable{true};
};
HB_API AttentionSettings& attention_settings();

}  // namespace hb
