// What functions check in values: kernels, so that a captured step checks again at each replay.
#include <cmath>

#include "backend/amp.h"
#include "backend/loss.h"

namespace hb::cpu {
namespace {

double value_of(const Tensor& number) { return *static_cast<const double*>(number.impl().raw_data()); }

void check_norm(const Tensor& total, double norm_type) {
  HB_CHECK(
      std::isfinite(value_of(total)), "The total norm of order ", norm_type,
      " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the "
      "gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
}
HB_REGISTER_CPU(check_norm_kernel, check_norm);

void check_unit_range(const Tensor& least, const Tensor& most) {
  HB_CHECK(value_of(least) >= 0 && value_of(most) <= 1,
           "[binary_cross_entropy] all elements of input should be between 0 and 1");
}
HB_REGISTER_CPU(check_unit_range_kernel, check_unit_range);

}  // namespace
}  // namespace hb::cpu
