// What functions check in values: kernels, so that a captured step checks again at each replay.
#include <cmath>
#include <string>

#include "backend/amp.h"
#include "backend/decompositions.h"
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

void check_unit_range(const Tensor& least, const Tensor& most, const char* what) {
  HB_CHECK(value_of(least) >= 0 && value_of(most) <= 1, "[binary_cross_entropy] all elements of ", what,
           " should be between 0 and 1");
}
HB_REGISTER_CPU(check_unit_range_kernel, check_unit_range);

void check_info(const Tensor& info, const char* name, const char* text) {
  const auto* const codes = static_cast<const int32_t*>(info.impl().raw_data());
  for (int64_t i = 0; i < info.numel(); ++i) {
    if (codes[i] == 0) continue;
    std::string explained = text;
    for (size_t at = 0; (at = explained.find("{}", at)) != std::string::npos;)
      explained.replace(at, 2, std::to_string(codes[i]));
    throw LinAlgError(
        detail::str(name, info.dim() > 0 ? detail::str(": (Batch element ", i, "): ") : std::string(": "), explained));
  }
}
HB_REGISTER_CPU(check_info_kernel, check_info);

void check_finite(const Tensor& finite, const char* name, const char* text) {
  if (!*static_cast<const bool*>(finite.impl().raw_data())) detail::fail<LinAlgError>(name, ": ", text);
}
HB_REGISTER_CPU(check_finite_kernel, check_finite);

}  // namespace
}  // namespace hb::cpu
