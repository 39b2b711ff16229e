#include "ops/nn/conv_of_parts.h"

#include "ops/common/integers_in_double.h"

namespace hb::ops {

Tensor channel_row(const Tensor& bias, int64_t dims) {
  DimVector shape(static_cast<size_t>(dims), 1);
  shape[1] = bias.numel();
  return bias.view(shape);
}

Tensor complex_convolution(const Tensor& x, const Tensor& w, const Tensor& bias, const FloatingConvolution& real_one) {
  const Tensor xr = real(x), xi = imag(x), wr = real(w), wi = imag(w);
  const Tensor re = real_one(xr, wr, {}), im = real_one(xi, wi, {}), both = real_one(xr + xi, wr + wi, {});
  const Tensor out = complex(re - im, both - re - im);
  if (!bias.defined() || out.size(1) == 0) return out;
  return out + channel_row(bias, out.dim());
}

Tensor integer_convolution(const char* name, const Tensor& x, const Tensor& w, const Tensor& bias,
                           const FloatingConvolution& floating_one) {
  const auto wide = [](const Tensor& t) { return t.defined() ? t.to(kDouble) : t; };
  const Tensor dx = wide(x), dw = wide(w), db = wide(bias);
  const double bound = largest_magnitude(dx) * largest_magnitude(dw) * static_cast<double>(w.numel());
  HB_CHECK(bound + largest_magnitude(db) < kExactInDouble, "[", name,
           "] of integers whose sums may exceed 2^53 is not supported");
  return floating_one(dx, dw, db).to(kLong).to(x.scalar_type());
}

}  // namespace hb::ops
