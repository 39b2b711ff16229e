#include <halfbridge/bridge/nn/vision.h>

#include <algorithm>
#include <cmath>

namespace hb::bridge::nn::functional {

namespace {

template <class Choice>
bool is(const InterpolateFuncOptions& o) {
  return std::holds_alternative<Choice>(o.mode());
}

std::vector<int64_t> interpolated_size(const Tensor& input, const InterpolateFuncOptions& o) {
  const int64_t dims = input.dim() - 2;
  HB_CHECK(o.size() || o.scale_factor(), "either size or scale_factor should be defined");
  HB_CHECK(!(o.size() && o.scale_factor()), "only one of size or scale_factor should be defined");
  if (o.size()) {
    HB_CHECK(static_cast<int64_t>(o.size()->size()) == dims, "It is expected output_size equals to ", dims,
             ", but got size ", o.size()->size(), ": size shape must match input shape. Input is ", dims, "D, size is ",
             IntArrayRef(*o.size()));
    return *o.size();
  }
  HB_CHECK(static_cast<int64_t>(o.scale_factor()->size()) == dims,
           "scale_factor shape must match input shape. Input is ", dims, "D, scale_factor size is ",
           ArrayRef<double>(*o.scale_factor()));
  std::vector<int64_t> size;
  for (int64_t d = 0; d < dims; ++d)
    size.push_back(static_cast<int64_t>(std::floor(static_cast<double>(input.size(d + 2)) * (*o.scale_factor())[d])));
  return size;
}

void warn_of_defaults(const InterpolateFuncOptions& o, bool unaligned) {
  if (!unaligned && !o.align_corners())
    hb::detail::warn(hb::detail::str("Default upsampling behavior when mode=", enumtype::get_enum_name(o.mode()),
                                     " is changed to align_corners=False since 0.4.0. Please specify "
                                     "align_corners=True if the old behavior is desired."));
  const auto whole = [](double factor) { return factor == std::floor(factor); };
  if (o.scale_factor() && !o.recompute_scale_factor() &&
      !std::all_of(o.scale_factor()->begin(), o.scale_factor()->end(), whole))
    hb::detail::warn(
        "The default behavior for interpolate/upsample with float scale_factor changed in 1.6.0: it uses scale_factor "
        "directly. Set recompute_scale_factor=True for the factor that follows from the computed output size.");
}

// The scales that the result is computed with, where they are not those of the two sizes.
std::vector<std::optional<double>> scales_of(const Tensor& input, const InterpolateFuncOptions& o) {
  std::vector<std::optional<double>> scales(input.dim() - 2);
  if (o.scale_factor() && !o.recompute_scale_factor().value_or(false))
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = (*o.scale_factor())[i];
  return scales;
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  const std::string mode = enumtype::get_enum_name(o.mode());
  const bool unaligned = is<enumtype::kNearest>(o) || is<enumtype::kNearestExact>(o) || is<enumtype::kArea>(o);
  HB_CHECK(!(unaligned && o.align_corners()),
           "align_corners option can only be set with the interpolating modes: linear | "
           "bilinear | bicubic | trilinear");
  HB_CHECK(input.dim() >= 3 && input.dim() <= 5, "Input Error: Only 3D, 4D and 5D input Tensors supported (got ",
           input.dim(), "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ", mode, ")");
  warn_of_defaults(o, unaligned);
  const auto size = interpolated_size(input, o);
  const auto s = scales_of(input, o);
  const bool align = o.align_corners().value_or(false);
  const int64_t dim = input.dim();
  const bool antialiased = (is<enumtype::kBilinear>(o) || is<enumtype::kBicubic>(o)) && dim == 4;
  HB_CHECK(!o.antialias() || antialiased,
           "Anti-alias option is only supported for bilinear and bicubic modes and requires a 4-D tensor as input");
  if (o.antialias()) {
    if (is<enumtype::kBicubic>(o)) return hb::_upsample_bicubic2d_aa(input, size, align, s[0], s[1]);
    return hb::_upsample_bilinear2d_aa(input, size, align, s[0], s[1]);
  }
  if (is<enumtype::kNearestExact>(o)) {
    if (dim == 3) return hb::_upsample_nearest_exact1d(input, size, s[0]);
    if (dim == 4) return hb::_upsample_nearest_exact2d(input, size, s[0], s[1]);
    return hb::_upsample_nearest_exact3d(input, size, s[0], s[1], s[2]);
  }
  if (is<enumtype::kNearest>(o)) {
    if (dim == 3) return hb::upsample_nearest1d(input, size, s[0]);
    if (dim == 4) return hb::upsample_nearest2d(input, size, s[0], s[1]);
    return hb::upsample_nearest3d(input, size, s[0], s[1], s[2]);
  }
  if (is<enumtype::kArea>(o)) {
    if (dim == 3) return hb::adaptive_avg_pool1d(input, size);
    if (dim == 4) return hb::adaptive_avg_pool2d(input, size);
    return hb::adaptive_avg_pool3d(input, size);
  }
  if (is<enumtype::kLinear>(o) && dim == 3) return hb::upsample_linear1d(input, size, align, s[0]);
  if (is<enumtype::kBilinear>(o) && dim == 4) return hb::upsample_bilinear2d(input, size, align, s[0], s[1]);
  if (is<enumtype::kBicubic>(o) && dim == 4) return hb::upsample_bicubic2d(input, size, align, s[0], s[1]);
  if (is<enumtype::kTrilinear>(o) && dim == 5) return hb::upsample_trilinear3d(input, size, align, s[0], s[1], s[2]);
  HB_CHECK(!is<enumtype::kBicubic>(o), "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", dim,
           "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ", mode, ")");
  const bool linear = is<enumtype::kLinear>(o), trilinear = is<enumtype::kTrilinear>(o);
  HB_CHECK(false, "Got ", dim, "D input, but ",
           linear      ? "linear"
           : trilinear ? "trilinear"
                       : "bilinear",
           " mode needs ",
           linear      ? 3
           : trilinear ? 5
                       : 4,
           "D input");
  return Tensor();
}

Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& o) {
  return hb::pixel_shuffle(input, o.upscale_factor());
}
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& o) {
  return hb::pixel_unshuffle(input, o.downscale_factor());
}

Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  HB_CHECK(input.dim() == 3 || input.dim() == 2,
           "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ", input.dim(), "D)");
  return hb::col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  HB_CHECK(input.dim() == 4, "Input Error: Only 4D input Tensors are supported (got ", input.dim(), "D)");
  return hb::im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& o) {
  if (!o.align_corners())
    hb::detail::warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired.");
  return hb::grid_sampler(input, grid, static_cast<int64_t>(o.mode().index()),
                          static_cast<int64_t>(o.padding_mode().index()), o.align_corners().value_or(false));
}

Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners) {
  HB_CHECK(theta.is_floating_point(), "Expected theta to have floating point type, but got ", theta.dtype());
  HB_CHECK(size.size() == 4 || size.size() == 5,
           "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size ", size);
  const int64_t n = static_cast<int64_t>(size.size()) - 2;
  HB_CHECK(theta.dim() == 3 && theta.size(-2) == n && theta.size(-1) == n + 1, "Expected a batch of ", n,
           "D affine matrices of shape Nx", n, "x", n + 1, " for size ", size, ". Got ", theta.sizes(), ".");
  for (int64_t s : size) HB_CHECK(s > 0, "Expected non-zero, positive output size. Got ", size);
  return hb::affine_grid_generator(theta, size, align_corners);
}

}  // namespace hb::bridge::nn::functional
