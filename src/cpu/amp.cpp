#include "backend/amp.h"

#include <cmath>

namespace hb::cpu {
namespace {

void update_scale(float* scale, int32_t* growth_tracker, const float* found_inf, const ScaleUpdate& update) {
  if (*found_inf != 0) {
    *scale = static_cast<float>(*scale * update.backoff_factor);
    *growth_tracker = 0;
    return;
  }
  ++*growth_tracker;
  if (*growth_tracker != update.growth_interval) return;
  const float grown = static_cast<float>(*scale * update.growth_factor);
  if (std::isfinite(grown)) *scale = grown;
  *growth_tracker = 0;
}
HB_REGISTER_CPU(update_scale_kernel, update_scale);

void check_norm(const Tensor& total, double norm_type) {
  HB_CHECK(
      std::isfinite(*static_cast<const double*>(total.impl().raw_data())), "The total norm of order ", norm_type,
      " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the "
      "gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
}
HB_REGISTER_CPU(check_norm_kernel, check_norm);

}  // namespace
}  // namespace hb::cpu
