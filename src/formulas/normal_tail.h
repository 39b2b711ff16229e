#pragma once
// The normal distribution beside its middle, for gelu and its slope: of a float with one exponential and one division.

#include "formulas/vector_special.h"

namespace hb::math {

/// The distribution function of |x| is 1 - power * ratio. `power` is e^(-x^2 / 2); beyond 13, where that is 1e-37, it
/// is no number to compute with. Both are smooth in |x|, so that neither side of 0 cancels; the errors of the product
/// are those of rounding and a thousandth of it far out, or 6e-9.
struct NormalTail {
  float power, ratio;
};
HB_HD_ALWAYS bool is_beyond_tail(float x) { return abs(x) > 13.0f; }
HB_HD_ALWAYS NormalTail normal_tail(float x) {
  const float size = abs(x), square = x * x, half_log2_e = 0.72134752044448170f, part = size * 0.38f;
#ifdef __CUDA_ARCH__
  const float power = exp2f(-half_log2_e * square), s = __fdividef(part, 1 + part);
#else
  // -x^2 / 2 in powers of two: a whole number n, which stands in the lowest bits of `shifted`, and r.
  const float magic = 12582912.0f;
  const float shifted = fma(square, -half_log2_e, magic), n = shifted - magic, r = fma(square, -half_log2_e, -n);
  const float p = horner(r, 1.0f, 0.69314718246f, 0.24022647738f, 0.055503323674f, 0.0096184369177f, 0.0013398875017f,
                         0.00015353361960f);
  const float power =
      __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, p) + (__builtin_bit_cast(uint32_t, shifted) << 23));
  const float s = part / (1 + part);
#endif
  const float ratio = horner(s, 0.5f, -1.0498489141f, 0.68149381876f, -0.011367377825f, -0.12413822114f,
                             -0.050353411585f, 0.055127087981f);
  return {power, ratio};
}

}  // namespace hb::math
