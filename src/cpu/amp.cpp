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

}  // namespace
}  // namespace hb::cpu
