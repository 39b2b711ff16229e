#include "formulas/batch_norm.h"

namespace hb::cpu {
namespace {

void channels(const BatchNormChannels& p, void* scale, void* shift) {
  for (int64_t i = 0; i < p.channels; ++i) per_channel::channel(p, i, scale, shift);
}

void grad_channels(const BatchNormChannels& p, const void* sum_g, const void* sum_gx, void* a, void* b, void* c,
                   void* grad_weight, void* grad_bias) {
  const per_channel::GradChannels grad{sum_g, sum_gx, a, b, c, grad_weight, grad_bias};
  for (int64_t i = 0; i < p.channels; ++i) per_channel::grad_channel(p, i, grad);
}

HB_REGISTER_CPU(batch_norm_channels_kernel, channels);
HB_REGISTER_CPU(batch_norm_grad_channels_kernel, grad_channels);

}  // namespace
}  // namespace hb::cpu
