// Sums, means and products whose result goes into a tensor of the caller's: they compute in its dtype.
#include <halfbridge/ops.h>

#include "core/function_front.h"
#include "ops/common/inplace.h"
#include "ops/common/out_dtype.h"

namespace hb {
namespace {

/// The dtype in which name_out computes; `own` is what the function itself would give.
ScalarType out_dtype(const char* name, const Tensor& out, std::optional<ScalarType> asked, ScalarType own) {
  if (!out.defined()) return asked.value_or(own);
  if (asked) require_out_dtype(name, *asked, out.scalar_type());
  return out.scalar_type();
}
/// Of sums and products, where a Bool's own sum is a Long.
ScalarType sum_dtype(const char* name, const Tensor& out, const Tensor& self, std::optional<ScalarType> asked) {
  return out_dtype(name, out, asked, is_integral_type(self.scalar_type(), true) ? kLong : self.scalar_type());
}
/// Running sums are not computed in Bool.
ScalarType running_dtype(const char* name, const char* phrase, const Tensor& out, const Tensor& self,
                         std::optional<ScalarType> asked) {
  const ScalarType t = sum_dtype(name, out, self, asked);
  HB_CHECK_SUPPORTED(t != kBool, "[", name, "] \"", phrase, "\" not implemented for 'Bool'");
  return t;
}

}  // namespace

Tensor& sum_out(Tensor& out, const Tensor& self, std::optional<ScalarType> dtype) {
  return sum_out(out, self, std::nullopt, false, dtype);
}
Tensor& sum_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                std::optional<ScalarType> dtype) {
  front::Excluded excluded;
  return assign_out("sum_out", out, sum(self, dim, keepdim, sum_dtype("sum_out", out, self, dtype)));
}
Tensor& nansum_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  front::Excluded excluded;
  const ScalarType t = sum_dtype("nansum_out", out, self, dtype);
  HB_CHECK_SUPPORTED(is_floating_type(t) || is_integral_type(self.scalar_type(), true),
                     "[nansum_out] \"nansum_cpu\" not implemented for '", toString(t), "'");
  return assign_out("nansum_out", out, nansum(self, dim, keepdim, t));
}
Tensor& mean_out(Tensor& out, const Tensor& self, std::optional<ScalarType> dtype) {
  return mean_out(out, self, std::nullopt, false, dtype);
}
// A mean's own dtype counts, not out's: it is cast.
Tensor& mean_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                 std::optional<ScalarType> dtype) {
  front::Excluded excluded;
  if (dtype && out.defined()) require_out_dtype("mean_out", *dtype, out.scalar_type());
  return assign_out("mean_out", out, mean(self, dim, keepdim, dtype));
}
Tensor& prod_out(Tensor& out, const Tensor& self, std::optional<ScalarType> dtype) {
  front::Excluded excluded;
  return assign_out("prod_out", out, prod(self, sum_dtype("prod_out", out, self, dtype)));
}
Tensor& prod_out(Tensor& out, const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  front::Excluded excluded;
  return assign_out("prod_out", out, prod(self, dim, keepdim, sum_dtype("prod_out", out, self, dtype)));
}
Tensor& cumsum_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  front::Excluded excluded;
  return assign_out("cumsum_out", out,
                    cumsum(self, dim, running_dtype("cumsum_out", "cumsum_out_cpu", out, self, dtype)));
}
Tensor& cumprod_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  front::Excluded excluded;
  return assign_out("cumprod_out", out,
                    cumprod(self, dim, running_dtype("cumprod_out", "cumprod_out_cpu", out, self, dtype)));
}

}  // namespace hb
