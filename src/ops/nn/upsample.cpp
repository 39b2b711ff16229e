// Resampling, one dimension at a time: each output element is a weighted sum of a few input elements.
#include <array>
#include <cmath>
#include <memory>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/tap_sum.h"
#include "core/geometry.h"
#include "ops/common/layout.h"
#include "ops/common/refused_dtypes.h"
#include "ops/nn/separable.h"
#include "ops/nn/upsample.h"

namespace hb {
namespace {

/// `shift`: where in an output element the input is looked up, 0 or (its centre) 0.5.
Tensor nearest(const char* name, const char* node, const Tensor& self, IntArrayRef output,
               std::initializer_list<std::optional<double>> scales, float shift = 0) {
  ops::check_upsample(name, self, output, scales.size());
  if (self.scalar_type() != kByte) ops::refuse_integers(name, self.scalar_type());
  std::vector<std::vector<int64_t>> index;
  int64_t d = 2;
  for (const auto& scale : scales) {
    const int64_t in = self.size(d), n = output[d++ - 2];
    const auto step = ops::upsample_step<float>(in, n, scale);
    index.emplace_back(n);
    for (int64_t i = 0; i < n; ++i)
      index.back()[i] =
          std::min<int64_t>(static_cast<int64_t>(std::floor((static_cast<float>(i) + shift) * step)), in - 1);
  }
  return ops::select_separable(node, self, std::move(index));
}

// Taps of one dimension: index and weight of each output element, as many times as there are taps.
struct TapLists {
  Resampling rule;
  std::vector<std::vector<int64_t>> index;
  std::vector<std::vector<double>> weight;
};

template <class C, bool cubic>
void list_taps(TapLists& t) {
  const auto n = static_cast<size_t>(t.rule.out);
  t.index.assign(Taps<C, cubic>::kCount, std::vector<int64_t>(n));
  t.weight.assign(Taps<C, cubic>::kCount, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    const auto taps = t.rule.taps<C, cubic>(static_cast<int64_t>(i));
    for (size_t k = 0; k < t.index.size(); ++k)
      t.index[k][i] = taps.at[k], t.weight[k][i] = static_cast<double>(taps.weight[k]);
  }
}

/// In the precision C, which is LibTorch's for the dtype.
template <class C>
TapLists taps_of(int64_t in, int64_t out, bool align_corners, std::optional<double> scale, bool cubic, bool listed) {
  const C step = !align_corners ? ops::upsample_step<C>(in, out, scale)
                 : out > 1      ? static_cast<C>(in - 1) / static_cast<C>(out - 1)
                                : C(0);
  TapLists t{{in, out, static_cast<double>(step), align_corners, cubic}, {}, {}};
  if (listed) cubic ? list_taps<C, true>(t) : list_taps<C, false>(t);
  return t;
}

Tensor along(const Tensor& x, int64_t d, const TapLists& t) {
  DimVector shape(static_cast<size_t>(x.dim()), 1);
  shape[d] = static_cast<int64_t>(t.index[0].size());
  Tensor out;
  for (size_t k = 0; k < t.index.size(); ++k) {
    const Tensor weight = tensor(t.weight[k], x.options()).view(shape);
    const Tensor term = x.index_select(d, tensor(t.index[k], kLong).to(x.device())) * weight;
    out = out.defined() ? out + term : term;
  }
  return out;
}

// The taps of the last dimensions of a tensor, and what the nodes of the graph are called.
struct Plan {
  const char *node, *node_of_gradient;
  std::vector<TapLists> taps;
};

// One dimension of a contiguous tensor of floats or doubles, or the transpose of that.
Tensor along(const Tensor& x, int64_t d, const TapLists& t, bool adjoint) {
  TapSum s{1, 1, t.rule, t.index, t.weight};
  DimVector sizes(x.impl().sizes());
  for (int64_t k = 0; k < d; ++k) s.outer *= x.size(k);
  for (int64_t k = d + 1; k < x.dim(); ++k) s.inner *= x.size(k);
  sizes[d] = adjoint ? s.rule.in : s.rule.out;
  Tensor out = empty(sizes, x.options());
  if (out.numel())
    tap_sum_kernel(x.device())(x.scalar_type(), s, adjoint, out.impl().visible_data(), x.impl().visible_data());
  return out;
}

// The same memory, as a tensor that is no view.
Tensor unrelated(const Tensor& view) {
  const TensorImpl& i = view.impl();
  return Tensor(make_intrusive<TensorImpl>(i.physical_storage(), i.dtype(), i.sizes(), i.physical_strides(),
                                           i.physical_offset()));
}

// All dimensions, the last first, as in LibTorch's sums; half types are rounded once, at the end.
Tensor resampled(const Tensor& x, std::shared_ptr<const Plan> r, bool adjoint) {
  const ScalarType t = x.scalar_type();
  const auto dims = static_cast<int64_t>(r->taps.size()), last = x.dim() - 1;
  const bool channels_last = ops::is_visibly_channels_last(x);  // then the channels come along as the inmost dimension
  Tensor out = x.detach();
  if (channels_last) out = out.movedim(1, last);
  out = out.to(is_half_type(t) ? kFloat : t).contiguous();
  const int64_t first = last + 1 - dims - (channels_last ? 1 : 0);
  for (int64_t k = dims - 1; k >= 0; --k) out = along(out, first + k, r->taps[k], adjoint);
  out = out.to(t);
  if (channels_last) out = unrelated(out.movedim(last, 1));
  if (needs_grad(x))
    record(adjoint ? r->node_of_gradient : r->node, out, {&x},
           [=](Backward& b) -> variable_list { return {resampled(b.grad(), r, !adjoint)}; });
  return out;
}

/// Where several taps of an element meet at the border, the first has the weight of all.
void join_taps(TapLists& t) {
  for (size_t i = 0; i < t.index[0].size(); ++i)
    for (size_t k = 1; k < t.index.size(); ++k)
      for (size_t first = 0; first < k; ++first) {
        if (t.index[first][i] != t.index[k][i]) continue;
        t.weight[first][i] += t.weight[k][i], t.weight[k][i] = 0;
        break;
      }
}

/// The same for bytes, with whole-numbered weights: a sum of integers that is rounded once.
Tensor along_bytes(const Tensor& x, int64_t d, TapLists t) {
  join_taps(t);
  std::vector<double> all;
  for (const auto& weights : t.weight) all.insert(all.end(), weights.begin(), weights.end());
  const auto [whole, shift] = ops::whole_weights(all);
  const auto n = static_cast<int64_t>(t.index[0].size());
  DimVector shape(static_cast<size_t>(x.dim()), 1);
  shape[d] = n;
  Tensor sum;
  for (size_t k = 0; k < t.index.size(); ++k) {
    const Tensor weight = tensor(ArrayRef<int64_t>(whole.data() + static_cast<int64_t>(k) * n, n), kLong).view(shape);
    const Tensor term = x.index_select(d, tensor(t.index[k], kLong).to(x.device())) * weight.to(x.device());
    sum = sum.defined() ? sum + term : term;
  }
  return ops::rounded_bytes(sum, shift);
}

Tensor weighted(const char* name, const char* node, const char* node_of_gradient, const Tensor& self,
                IntArrayRef output, bool align_corners, bool cubic,
                std::initializer_list<std::optional<double>> scales) {
  ops::check_upsample(name, self, output, scales.size());
  const bool bytes = self.scalar_type() == kByte && scales.size() == 2;
  if (!bytes) ops::refuse_integers(name, self.scalar_type());
  HB_CHECK_SUPPORTED(!cubic || !self.is_complex(), "[", name, "] not implemented for '", toString(self.scalar_type()),
                     "'");
  const bool summed = !bytes && self.is_floating_point() && tap_sum_kernel.available(self.device());
  const auto taps = [&, by = std::vector<std::optional<double>>(scales)](int64_t d) {
    const int64_t in = self.size(d), n = output[d - 2];
    const bool listed = !summed || !self.device().is_cuda();
    return self.scalar_type() == kDouble ? taps_of<double>(in, n, align_corners, by[d - 2], cubic, listed)
                                         : taps_of<float>(in, n, align_corners, by[d - 2], cubic, listed);
  };
  if (summed) {
    auto r = std::make_shared<Plan>(Plan{node, node_of_gradient, {}});
    for (int64_t d = 2; d < self.dim(); ++d) r->taps.push_back(taps(d));
    return resampled(self, std::move(r), false);
  }
  // Halves are rounded once, at the end. The last dimension comes first.
  Tensor out = is_half_type(self.scalar_type()) ? self.to(kFloat) : self;
  const std::vector<std::optional<double>> by(scales);
  for (int64_t d = self.dim() - 1; d >= 2; --d) {
    const int64_t in = self.size(d), n = output[d - 2];
    if (bytes) {
      if (in != n) out = along_bytes(out.to(kLong), d, taps_of<double>(in, n, align_corners, by[d - 2], cubic, true));
      continue;
    }
    out = along(out, d, taps(d));
  }
  return ops::in_layout_of(self, out.to(self.scalar_type()));
}

}  // namespace

namespace {

// Sizes by the names of their dimensions: H: 6, W: 4.
std::string extents(IntArrayRef sizes) {
  std::string text;
  for (size_t d = 0; d < sizes.size(); ++d)
    text += std::string(d ? ", " : "") + "DHW"[3 - sizes.size() + d] + ": " + std::to_string(sizes[d]);
  return text;
}

}  // namespace

void ops::check_upsample(const char* name, const Tensor& self, IntArrayRef output, size_t dims) {
  HB_CHECK(output.size() == dims, "[", name, "] It is expected output_size equals to ", dims, ", but got size ",
           output.size());
  HB_CHECK(self.dim() == static_cast<int64_t>(dims) + 2, "[", name, "] It is expected input_size equals to ", dims + 2,
           ", but got size ", self.dim());
  for (size_t d = 0; d < dims; ++d)
    HB_CHECK(self.size(2 + d) > 0 && output[d] > 0, "[", name,
             "] Input and output sizes should be greater than 0, but got input (", extents(self.sizes().slice(2)),
             ") output (", extents(output), ")");
  DimVector sizes(self.impl().sizes());
  for (size_t d = 0; d < dims; ++d) sizes[2 + d] = output[d];
  geometry::bytes(geometry::numel(sizes), self.impl().itemsize());  // before lists of these lengths are made
}

std::pair<std::vector<int64_t>, int> ops::whole_weights(const std::vector<double>& weights) {
  const double largest = weights.empty() ? 0 : *std::max_element(weights.begin(), weights.end());
  int shift = 0;
  while (shift < 22 && std::floor(0.5 + largest * static_cast<double>(int64_t{2} << shift)) < (1 << 15)) ++shift;
  std::vector<int64_t> whole(weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    whole[i] = static_cast<int64_t>(std::round(weights[i] * static_cast<double>(int64_t{1} << shift)));
  return {std::move(whole), shift};
}

Tensor ops::rounded_bytes(const Tensor& sum, int shift) {
  const int64_t half = shift > 0 ? int64_t{1} << (shift - 1) : 0;
  return sum.add(half).bitwise_right_shift(shift).clamp(0, 255).to(kByte);
}

Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales) {
  HB_AUTOCAST(upsample_nearest1d, as_is, fp32, self, output_size, scales);
  return nearest("upsample_nearest1d", "UpsampleNearest1DBackward0", self, output_size, {scales});
}
Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h,
                          std::optional<double> scales_w) {
  HB_AUTOCAST(upsample_nearest2d, as_is, fp32, self, output_size, scales_h, scales_w);
  return nearest("upsample_nearest2d", "UpsampleNearest2DBackward0", self, output_size, {scales_h, scales_w});
}
Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  HB_AUTOCAST(upsample_nearest3d, as_is, fp32, self, output_size, scales_d, scales_h, scales_w);
  return nearest("upsample_nearest3d", "UpsampleNearest3DBackward0", self, output_size, {scales_d, scales_h, scales_w});
}
Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales) {
  HB_AUTOCAST(_upsample_nearest_exact1d, as_is, fp32, self, output_size, scales);
  return nearest("_upsample_nearest_exact1d", "UpsampleNearestExact1DBackward0", self, output_size, {scales}, 0.5f);
}
Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h,
                                 std::optional<double> scales_w) {
  HB_AUTOCAST(_upsample_nearest_exact2d, as_is, fp32, self, output_size, scales_h, scales_w);
  return nearest("_upsample_nearest_exact2d", "UpsampleNearestExact2DBackward0", self, output_size,
                 {scales_h, scales_w}, 0.5f);
}
Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d,
                                 std::optional<double> scales_h, std::optional<double> scales_w) {
  HB_AUTOCAST(_upsample_nearest_exact3d, as_is, fp32, self, output_size, scales_d, scales_h, scales_w);
  return nearest("_upsample_nearest_exact3d", "UpsampleNearestExact3DBackward0", self, output_size,
                 {scales_d, scales_h, scales_w}, 0.5f);
}
Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                         std::optional<double> scales) {
  HB_AUTOCAST(upsample_linear1d, as_is, fp32, self, output_size, align_corners, scales);
  return weighted("upsample_linear1d", "UpsampleLinear1DBackward0", "UpsampleLinear1DBackwardBackward0", self,
                  output_size, align_corners, false, {scales});
}
Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                           std::optional<double> scales_h, std::optional<double> scales_w) {
  HB_AUTOCAST(upsample_bilinear2d, as_is, fp32, self, output_size, align_corners, scales_h, scales_w);
  return weighted("upsample_bilinear2d", "UpsampleBilinear2DBackward0", "UpsampleBilinear2DBackwardBackward0", self,
                  output_size, align_corners, false, {scales_h, scales_w});
}
Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  HB_AUTOCAST(upsample_bicubic2d, as_is, fp32, self, output_size, align_corners, scales_h, scales_w);
  return weighted("upsample_bicubic2d", "UpsampleBicubic2DBackward0", "UpsampleBicubic2DBackwardBackward0", self,
                  output_size, align_corners, true, {scales_h, scales_w});
}
Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                            std::optional<double> scales_d, std::optional<double> scales_h,
                            std::optional<double> scales_w) {
  HB_AUTOCAST(upsample_trilinear3d, as_is, fp32, self, output_size, align_corners, scales_d, scales_h, scales_w);
  return weighted("upsample_trilinear3d", "UpsampleTrilinear3DBackward0", "UpsampleTrilinear3DBackwardBackward0", self,
                  output_size, align_corners, false, {scales_d, scales_h, scales_w});
}

}  // namespace hb
