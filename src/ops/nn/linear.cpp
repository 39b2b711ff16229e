#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "ops/common/or_undefined.h"
#include "ops/linalg/matrix_product.h"
#include "ops/sparse/sparse.h"

namespace hb {

using ops::affine;
using ops::check_same_dtype;

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_or_none) {
  const Tensor& bias = or_undefined(bias_or_none);
  HB_AUTOCAST(linear, half, half, input, weight, bias);
  HB_CHECK(weight.dim() == 1 || weight.dim() == 2, "[linear] expected a weight of 1 or 2 dimensions, got ",
           weight.sizes());
  HB_CHECK(input.dim() >= 1, "[linear] both arguments to matmul need to be at least 1D, but they are ", input.dim(),
           "D and ", weight.dim(), "D");
  if (weight.dim() == 1) {
    const Tensor out = matmul(input, weight);
    return bias.defined() ? out + bias : out;
  }
  HB_CHECK(input.size(-1) == weight.size(1), "[linear] mat1 and mat2 shapes cannot be multiplied (",
           input.numel() / std::max<int64_t>(input.size(-1), 1), "x", input.size(-1), " and ", weight.size(1), "x",
           weight.size(0), "): expected an input of ", weight.size(1), " features, got input ", input.sizes(),
           " and weight ", weight.sizes());
  check_same_dtype("linear", input, weight);
  if (HB_UNLIKELY(sparse::either(input, weight))) {
    const Tensor out = matmul(input, weight.t());
    return bias.defined() ? out + bias : out;
  }
  if (bias.defined()) {
    check_same_dtype("linear", bias, weight);
    // Anything but one value per feature is added by broadcasting.
    if (bias.dim() != 1 || bias.size(0) != weight.size(0))
      return affine("LinearBackward0", input, weight, true, {}) + bias;
  }
  return affine("LinearBackward0", input, weight, true, bias);
}

}  // namespace hb
