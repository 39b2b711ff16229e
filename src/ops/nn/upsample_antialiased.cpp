// Resampling by filters as wide as what an output element covers, one dimension at a time: a product with a matrix of
// weights.
#include <algorithm>
#include <array>
#include <cmath>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "formulas/cubic_weight.h"
#include "ops/common/layout.h"
#include "ops/common/refused_dtypes.h"
#include "ops/nn/upsample.h"

namespace hb {
namespace {

struct Scale {
  int64_t in, out;
  bool align_corners;
  std::optional<double> given;

  double step() const {
    if (align_corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    return ops::upsample_step<double>(in, out, given);
  }
};

double triangle(double x) { return std::max(1 - std::abs(x), 0.0); }

double keys(double x) {
  x = std::abs(x);
  return x < 2 ? cubic_weight<double>(x, x < 1, -0.5) : 0;
}

/// (out, in): the weight of each input element in each output element; rows sum to 1. As in LibTorch aligned corners
/// change the step alone.
std::vector<double> weights(const Scale& s, bool cubic) {
  const double step = s.step(), widening = std::max(step, 1.0), reach = (cubic ? 2 : 1) * widening;
  std::vector<double> all(s.out * s.in, 0.0);
  for (int64_t i = 0; i < s.out; ++i) {
    const double centre = step * (static_cast<double>(i) + 0.5);
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(std::floor(centre - reach + 0.5)), 0),
                  last = std::min<int64_t>(static_cast<int64_t>(std::floor(centre + reach + 0.5)), s.in);
    double* row = all.data() + i * s.in;
    double sum = 0;
    for (int64_t j = first; j < last; ++j) {
      const double at = (static_cast<double>(j) - centre + 0.5) / widening;
      sum += row[j] = cubic ? keys(at) : triangle(at);
    }
    for (int64_t j = first; j < last && sum != 0; ++j) row[j] /= sum;
  }
  return all;
}

Tensor antialiased(const char* name, const Tensor& self, IntArrayRef output, bool align_corners, bool cubic,
                   std::array<std::optional<double>, 2> scales) {
  ops::check_upsample(name, self, output, 2);
  const bool bytes = self.scalar_type() == kByte;
  if (!bytes) ops::refuse_integers(name, self.scalar_type());
  Tensor out = is_half_type(self.scalar_type()) ? self.to(kFloat) : self;
  for (const int64_t d : {int64_t{3}, int64_t{2}}) {
    const Scale scale{self.size(d), output[d - 2], align_corners, scales[d - 2]};
    if (bytes) {
      const auto [whole, shift] = ops::whole_weights(weights(scale, cubic));
      const Tensor w = tensor(whole, kLong).to(self.device()).view({scale.out, scale.in}), x = out.to(kLong);
      out = ops::rounded_bytes(d == 3 ? matmul(x, w.t()) : matmul(w, x), shift);
      continue;
    }
    const Tensor w = tensor(weights(scale, cubic), out.options()).view({scale.out, scale.in});
    out = d == 3 ? matmul(out, w.t()) : matmul(w, out);
  }
  const char* node = cubic ? "UpsampleBicubic2DAaBackward0" : "UpsampleBilinear2DAaBackward0";
  return named(node, ops::in_layout_of(self, out.to(self.scalar_type())), self);
}

}  // namespace

Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                               std::optional<double> scales_h, std::optional<double> scales_w) {
  HB_AUTOCAST(_upsample_bilinear2d_aa, as_is, fp32, self, output_size, align_corners, scales_h, scales_w);
  return antialiased("_upsample_bilinear2d_aa", self, output_size, align_corners, false, {scales_h, scales_w});
}
Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                              std::optional<double> scales_h, std::optional<double> scales_w) {
  HB_AUTOCAST(_upsample_bicubic2d_aa, as_is, fp32, self, output_size, align_corners, scales_h, scales_w);
  return antialiased("_upsample_bicubic2d_aa", self, output_size, align_corners, true, {scales_h, scales_w});
}

}  // namespace hb
