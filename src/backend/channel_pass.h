#pragma once
// The last pass of a batch norm with what follows it, and the first pass of its gradient with what comes before.

#include "backend/norm.h"

namespace hb {

/// One value for each element of memory that `shape` describes, in stages that may be absent, each rounded to dtype:
/// x * scale + shift per channel, + added, then relu, or zero where `mask` is not positive (the gradient of relu).
struct ChannelPass {
  ScalarType dtype = kFloat;
  NormShape shape{};
  const void* x = nullptr;
  const void *scale = nullptr, *shift = nullptr;  // (channels), float (double for double)
  const void *added = nullptr, *mask = nullptr;
  bool relu = false;
};
inline void operands(capture::Operands& v, ChannelPass& p) {
  v.reads(p.x), v.reads(p.scale), v.reads(p.shift), v.reads(p.added), v.reads(p.mask);
}
/// A device that has it leaves this pass out of batch_norm_kernel where y is null.
HB_API inline Kernel<void(const ChannelPass& p, void* y)> channel_pass_kernel{"batch_norm"};

/// batch_norm_backward whose incoming gradient is the result of a pass without a scale, which it writes to `g`.
HB_API inline Kernel<void(const ChannelPass& incoming, const BatchNormChannels& p, const BatchNormGradients& grad,
                          void* g, const void* x)>
    batch_norm_backward_of_pass_kernel{"batch_norm_backward"};

}  // namespace hb
