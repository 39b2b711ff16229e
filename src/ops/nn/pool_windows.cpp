#include "ops/nn/pool_windows.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/geometry.h"
#include "ops/common/refused_dtypes.h"

namespace hb::ops {
namespace {

int64_t nth(const char* name, const char* what, IntArrayRef list, int d, int dims) {
  HB_CHECK(list.size() == 1 || list.size() == static_cast<size_t>(dims), "[", name, "] ", name, ": ", what,
           " must either be a single int, or a tuple of ", dims, " ints, got ", list);
  return list[list.size() == 1 ? 0 : d];
}

int64_t output_size(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode) {
  const int64_t span = in + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t out = (span >= 0 ? span / stride : -((-span + stride - 1) / stride)) + 1;
  // The last window starts inside the input or its left padding.
  if (ceil_mode && (out - 1) * stride >= in + padding) --out;
  return out;
}

// Sizes as messages show them: (3x1x4).
std::string planes_of(const Tensor& x, int dims, const std::function<int64_t(int)>& size) {
  std::string text = "(" + std::to_string(x.size(1)) + (dims == 1 ? "x1" : "");
  for (int d = 0; d < dims; ++d) text += "x" + std::to_string(size(d));
  return text + ")";
}

// The limits of max_pool1d are told in words of its own.
void check_line(const PoolArgs& a) {
  const auto check = [](const char* what, IntArrayRef given) {
    HB_CHECK(given.empty() || given[0] > 0, "[max_pool1d] max_pool1d() ", what, " must be greater than zero, but got ",
             given[0]);
  };
  check("kernel_size", a.kernel), check("stride", a.stride);
  HB_CHECK(a.padding.empty() || a.padding[0] >= 0, "[max_pool1d] max_pool1d() padding must be non-negative, but got ",
           a.padding[0], ": pad must be non-negative");
  HB_CHECK(a.padding.empty() || a.padding[0] <= a.kernel[0] / 2,
           "[max_pool1d] max_pool1d() padding should be at most half of kernel size, but got padding=", a.padding[0],
           " and kernel_size=", a.kernel[0]);
  check("dilation", a.dilation);
}

void check_result(const char* name, const Tensor& x, int dims, const PoolArgs& a, const PoolWindows& w) {
  const auto in = [&](int d) { return x.size(2 + d); };
  const auto out = [&](int d) { return w.dim[3 - dims + d].out; };
  bool fits = true;
  for (int d = 0; d < dims; ++d) fits = fits && out(d) > 0;
  if (fits) return;
  const std::string_view called = name;
  HB_CHECK(called != "max_pool1d", "[max_pool1d] max_pool1d() Invalid computed output size: ", out(0));
  HB_CHECK(called != "avg_pool3d", "[avg_pool3d] input image (T: ", in(0), " H: ", in(1), " W: ", in(2),
           ") smaller than kernel size ", a.kernel);
  HB_CHECK(false, "[", name, "] Given input size: ", planes_of(x, dims, in),
           ". Calculated output size: ", planes_of(x, dims, out), ". Output size is too small");
}

}  // namespace

void check_pool_input(const char* name, const Tensor& x, int dims, std::optional<int64_t> first_full) {
  HB_CHECK(dims > 1 || x.dim() == 2 || x.dim() == 3, "[", name,
           "] 2D or 3D (batch mode) tensor expected for input: ", "Expected 2 to 3 dimensions, but got ", x.dim(),
           "-dimensional tensor for argument #1 'self'");
  HB_CHECK(x.dim() == dims + 1 || x.dim() == dims + 2, "[", name, "] non-empty ", dims + 1, "D or ", dims + 2,
           "D (batch mode) tensor expected for input, got ", x.sizes(), ": Expected ", dims + 1, "D or ", dims + 2,
           "D tensor. Input dimension should be at least ", dims + 1);
  refuse_integers(name, x.scalar_type());
  for (int64_t d = first_full.value_or(x.dim() == dims + 1 ? 0 : 1); d < x.dim(); ++d)
    HB_CHECK(x.size(d) > 0, "[", name,
             "] Expected input to have non-zero size for non-batch dimensions, but input has "
             "sizes ",
             x.sizes(), " with dimension ", d, " being empty");
}

Windows plain_windows(const char* name, const Tensor& x, int dims, const PoolArgs& a) {
  auto w = std::make_shared<PoolWindows>();
  if (std::string_view(name) == "max_pool1d") check_line(a);
  for (int d = 0; d < dims; ++d) {
    auto& dim = w->dim[3 - dims + d];
    const int64_t kernel = nth(name, "kernel_size", a.kernel, d, dims);
    const int64_t stride = a.stride.empty() ? kernel : nth(name, "stride", a.stride, d, dims);
    const int64_t padding = nth(name, "padding", a.padding, d, dims), step = nth(name, "dilation", a.dilation, d, dims);
    for (int64_t value : {kernel, stride, padding, step})
      HB_CHECK(value <= std::numeric_limits<int32_t>::max(), "[", name, "] integer out of range: ", value);
    HB_CHECK(stride != 0, "[", name, "] stride should not be zero");
    HB_CHECK(step > 0, "[", name, "] dilation should be greater than zero, but got ", a.dilation);
    HB_CHECK(kernel > 0 && stride > 0, "[", name, "] kernel size and stride should be greater than zero, but got ",
             kernel, " and ", stride);
    HB_CHECK(padding >= 0, "[", name, "] pad must be non-negative, but got pad: ", padding);
    HB_CHECK(padding <= ((kernel - 1) * step + 1) / 2, "[", name,
             "] pad should be at most half of effective kernel size, but got pad=", padding, ", kernel_size=", kernel,
             " and dilation=", step);
    HB_CHECK(padding <= kernel / 2 || dims == 1, "[", name,
             "] pad should be smaller than or equal to half of kernel size, but got pad = ", a.padding,
             ", kernel size = ", a.kernel);
    dim.in = x.size(2 + d), dim.step = step, dim.kernel = kernel, dim.stride = stride, dim.padding = padding;
    dim.counts_padding = a.count_include_pad;
    dim.out = output_size(dim.in, kernel, stride, padding, step, a.ceil_mode);
  }
  check_result(name, x, dims, a, *w);
  if (!x.device().is_cuda()) w->list();
  return w;
}

Windows adaptive_windows(const char* name, const Tensor& x, int dims, IntArrayRef output) {
  HB_CHECK(output.size() == static_cast<size_t>(dims), "[", name, "] expected an output_size of ", dims,
           " values, got ", output);
  for (const int64_t o : output)
    HB_CHECK(o >= 0, "[", name, "] elements of output_size must be greater than or equal to 0 but received ", output);
  geometry::bytes(geometry::numel(DimVector(output)), element_size(x.scalar_type()));  // before the lists below
  auto w = std::make_shared<PoolWindows>();
  for (int d = 0; d < dims; ++d) {
    auto& dim = w->dim[3 - dims + d];
    dim.in = x.size(2 + d), dim.out = output[d], dim.adaptive = true;
  }
  if (!x.device().is_cuda()) w->list();
  return w;
}

DimVector output_sizes(const Tensor& x, const PoolWindows& w) {
  DimVector out(x.impl().sizes());
  const size_t dims = out.size() - 2;
  for (size_t d = 0; d < dims; ++d) out[2 + d] = w.dim[3 - dims + d].out;
  return out;
}

}  // namespace hb::ops
