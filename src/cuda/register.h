#pragma once

#include "backend/kernel.h"
#include "cuda/streams.h"

/// Gives a kernel its CUDA implementation when the library loads.
#define HB_REGISTER_CUDA(kernel, fn) \
  [[maybe_unused]] static const bool HB_CONCAT(registered_, __COUNTER__) = (kernel.set(kCUDA, fn), true)
