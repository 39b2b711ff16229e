// The arithmetic of batch_norm that is done once per channel.
#include "backend/norm.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

__device__ double get(ScalarType t, const void* p, int64_t i) {
  switch (t) {
    case kDouble:
      return static_cast<const double*>(p)[i];
    case kHalf:
      return static_cast<float>(static_cast<const Half*>(p)[i]);
    case kBFloat16:
      return static_cast<float>(static_cast<const BFloat16*>(p)[i]);
    default:
      return static_cast<const float*>(p)[i];
  }
}
__device__ void put(ScalarType t, void* p, int64_t i, double value) {
  switch (t) {
    case kDouble:
      static_cast<double*>(p)[i] = value;
      return;
    case kHalf:
      static_cast<Half*>(p)[i] = Half(static_cast<float>(value));
      return;
    case kBFloat16:
      static_cast<BFloat16*>(p)[i] = BFloat16(static_cast<float>(value));
      return;
    default:
      static_cast<float*>(p)[i] = static_cast<float>(value);
  }
}

__device__ void update_running(const BatchNormChannels& p, int64_t i, double mean, double var) {
  const double n = static_cast<double>(p.count), unbiased = var * (n / (n - 1));
  if (p.running_mean)
    put(p.running_dtype, p.running_mean, i,
        p.momentum * mean + (1 - p.momentum) * get(p.running_dtype, p.running_mean, i));
  if (p.running_var)
    put(p.running_dtype, p.running_var, i,
        p.momentum * unbiased + (1 - p.momentum) * get(p.running_dtype, p.running_var, i));
}

__global__ void channels(BatchNormChannels p, void* scale, void* shift) {
  HB_GRID_LOOP(i, p.channels) {
    const double mean = p.training ? get(p.compute, p.mean, i) : get(p.running_dtype, p.running_mean, i);
    const double var = p.training ? get(p.compute, p.rstd, i) : get(p.running_dtype, p.running_var, i);
    if (p.training) update_running(p, i, mean, var);
    const double rstd = 1 / std::sqrt(var + p.eps);
    put(p.compute, p.mean, i, mean);
    put(p.compute, p.rstd, i, rstd);
    const double a = (p.weight ? get(p.affine_dtype, p.weight, i) : 1.0) * rstd;
    put(p.compute, scale, i, a);
    put(p.compute, shift, i, (p.bias ? get(p.affine_dtype, p.bias, i) : 0.0) - mean * a);
  }
}

__global__ void grad_channels(BatchNormChannels p, const void* sum_g, const void* sum_gx, void* a, void* b, void* c,
                              void* grad_weight, void* grad_bias) {
  const double n = static_cast<double>(p.count);
  HB_GRID_LOOP(i, p.channels) {
    const double rstd = get(p.compute, p.rstd, i), g = get(p.compute, sum_g, i), gx = get(p.compute, sum_gx, i);
    const double scale = (p.weight ? get(p.affine_dtype, p.weight, i) : 1.0) * rstd;
    put(p.compute, a, i, scale);
    put(p.compute, b, i, p.training ? -scale * rstd * rstd * gx / n : 0);
    put(p.compute, c, i, p.training ? -scale * g / n : 0);
    if (grad_weight) put(p.affine_dtype, grad_weight, i, gx * rstd);
    if (grad_bias) put(p.affine_dtype, grad_bias, i, g);
  }
}

void batch_norm_channels(const BatchNormChannels& p, void* scale, void* shift) {
  HB_LAUNCH(channels, blocks_for(p.channels, 64), 64, 0, current_stream(), p, scale, shift);
}
void batch_norm_grad_channels(const BatchNormChannels& p, const void* sum_g, const void* sum_gx, void* a, void* b,
                              void* c, void* grad_weight, void* grad_bias) {
  HB_LAUNCH(grad_channels, blocks_for(p.channels, 64), 64, 0, current_stream(), p, sum_g, sum_gx, a, b, c, grad_weight,
            grad_bias);
}
HB_REGISTER_CUDA(batch_norm_channels_kernel, batch_norm_channels);
HB_REGISTER_CUDA(batch_norm_grad_channels_kernel, batch_norm_grad_channels);

}  // namespace
}  // namespace hb::cuda
