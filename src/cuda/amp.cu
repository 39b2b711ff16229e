// Loss scaling: the scale, its reciprocal and the overflow flag never leave the device.
#include "backend/amp.h"

#include <halfbridge/error.h>

#include "backend/floating_switch.h"
#include "cuda/convert.h"
#include "cuda/register.h"
#include "cuda/tensor_list.h"

namespace hb::cuda {
namespace {

template <class T>
__device__ bool is_finite(T x) {
  if constexpr (is_half_v<T>)
    return is_finite(static_cast<float>(x));
  else
    return x - x == T(0);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    check_unscale(HB_ARGUMENT(TensorList<GradSpan>) list, const float* inv_scale, float* found_inf) {
  const int tensor = list.of_block(static_cast<int>(blockIdx.x));
  T* const values = static_cast<T*>(list.item[tensor].data);
  const int64_t step = int64_t{list.blocks_of(tensor)} * kThreads;
  const float factor = inv_scale ? *inv_scale : 1.0f;
  bool good = true;
  for (int64_t i = (blockIdx.x - list.first[tensor]) * int64_t{kThreads} + threadIdx.x; i < list.item[tensor].numel;
       i += step) {
    const T x = values[i];
    good = good && is_finite(x);
    if (inv_scale) values[i] = static_cast<T>(static_cast<Compared<T>>(x) * static_cast<Compared<T>>(factor));
  }
  if (!good) atomicExch(found_inf, 1.0f);
}

void check_unscale_cuda(ScalarType dtype, ArrayRef<GradSpan> grads, const float* inv_scale, float* found_inf) {
  HB_FLOATING_SWITCH("_amp_foreach_non_finite_check_and_unscale_", dtype, [&](auto t) {
    for_lists(grads, [&](const TensorList<GradSpan>& list, unsigned blocks) {
      HB_LAUNCH((check_unscale<decltype(t)>), blocks, kThreads, 0, current_stream(), list, inv_scale, found_inf);
    });
  });
}

__global__ void update_scale(float* scale, int32_t* growth_tracker, const float* found_inf, ScaleUpdate update) {
  if (*found_inf != 0) {
    *scale = static_cast<float>(*scale * update.backoff_factor);
    *growth_tracker = 0;
    return;
  }
  if (++*growth_tracker != update.growth_interval) return;
  const auto grown = static_cast<float>(*scale * update.growth_factor);
  if (is_finite(grown)) *scale = grown;
  *growth_tracker = 0;
}
void update_scale_cuda(float* scale, int32_t* growth_tracker, const float* found_inf, const ScaleUpdate& update) {
  HB_LAUNCH(update_scale, 1, 1, 0, current_stream(), scale, growth_tracker, found_inf, update);
}

HB_REGISTER_CUDA(check_unscale_kernel, check_unscale_cuda);
HB_REGISTER_CUDA(update_scale_kernel, update_scale_cuda);

}  // namespace
}  // namespace hb::cuda
