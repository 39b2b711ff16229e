#include "formulas/batch_norm.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

__global__ void channels(BatchNormChannels p, void* scale, void* shift) {
  HB_GRID_LOOP(i, p.channels) per_channel::channel(p, i, scale, shift);
}

__global__ void grad_channels(BatchNormChannels p, per_channel::GradChannels grad) {
  HB_GRID_LOOP(i, p.channels) per_channel::grad_channel(p, i, grad);
}

void batch_norm_channels(const BatchNormChannels& p, void* scale, void* shift) {
  HB_LAUNCH(channels, blocks_for(p.channels, 64), 64, 0, current_stream(), p, scale, shift);
}
void batch_norm_grad_channels(const BatchNormChannels& p, const void* sum_g, const void* sum_gx, void* a, void* b,
                              void* c, void* grad_weight, void* grad_bias) {
  HB_LAUNCH(grad_channels, blocks_for(p.channels, 64), 64, 0, current_stream(), p,
            per_channel::GradChannels{sum_g, sum_gx, a, b, c, grad_weight, grad_bias});
}
HB_REGISTER_CUDA(batch_norm_channels_kernel, batch_norm_channels);
HB_REGISTER_CUDA(batch_norm_grad_channels_kernel, batch_norm_grad_channels);

}  // namespace
}  // namespace hb::cuda
