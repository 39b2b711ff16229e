#include <cmath>
#include <limits>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "ops/common/integers_in_double.h"
#include "ops/common/layout.h"
#include "ops/common/refused_dtypes.h"
#include "ops/nn/pool_windows.h"

namespace hb {
namespace {

using ops::adaptive_windows;
using ops::check_pool_input;
using ops::output_sizes;
using ops::plain_windows;
using ops::PoolArgs;
using ops::Windows;

// Names of nodes for one, two and three dimensions.
struct NodeNames {
  const char *forward[3], *gradient[3];
};
constexpr NodeNames kAverage{
    {"SqueezeBackward1", "AvgPool2DBackward0", "AvgPool3DBackward0"},
    {"AvgPool2DBackwardBackward0", "AvgPool2DBackwardBackward0", "AvgPool3DBackwardBackward0"}};
constexpr NodeNames kAdaptiveAverage{
    {"SqueezeBackward1", "AdaptiveAvgPool2DBackward0", "AdaptiveAvgPool3DBackward0"},
    {"AdaptiveAvgPool2DBackwardBackward0", "AdaptiveAvgPool2DBackwardBackward0", "AdaptiveAvgPool3DBackwardBackward0"}};
constexpr NodeNames kLargest{{"SqueezeBackward1", "MaxPool2DWithIndicesBackward0", "MaxPool3DWithIndicesBackward0"},
                             {"MaxPool2DWithIndicesBackwardBackward0", "MaxPool2DWithIndicesBackwardBackward0",
                              "MaxPool3DWithIndicesBackwardBackward0"}};
constexpr NodeNames kAdaptiveLargest{
    {"SqueezeBackward1", "AdaptiveMaxPool2DBackward0", "AdaptiveMaxPool3DBackward0"},
    {"AdaptiveMaxPool2DBackwardBackward0", "AdaptiveMaxPool2DBackwardBackward0", "AdaptiveMaxPool3DBackwardBackward0"}};
const char* node_name(const NodeNames& names, const Tensor& x) { return names.forward[x.dim() - 3]; }
const char* gradient_name(const NodeNames& names, const Tensor& g) { return names.gradient[g.dim() - 3]; }

/// How a pooling's tensors lie in memory: what CUDA's program keeps contiguous stays so, all else is channels-last.
struct Layout {
  bool last, visible;
  explicit Layout(const Tensor& x)
      : last(!x.device().is_cuda() || ops::is_physically_channels_last(x)), visible(ops::is_visibly_channels_last(x)) {}
  Tensor result(const DimVector& sizes, ScalarType dtype, const Device& device) const {
    return last ? ops::empty_channels_last(sizes, dtype, device, visible)
                : empty(sizes, TensorOptions(dtype).device(device));
  }
  Tensor operand(const Tensor& t) const { return last ? ops::to_channels_last(t) : ops::to_contiguous(t); }
  /// The images that are pooled. Contiguous ones are turned one by one as they are read, where that is near enough.
  Tensor images(const Tensor& x) const {
    constexpr int64_t kNearBytes = 256 << 10;
    const bool one_by_one = !x.device().is_cuda() && x.impl().physically_contiguous() && x.size(0) > 1 &&
                            static_cast<int64_t>(x.nbytes()) / x.size(0) <= kNearBytes;
    return one_by_one ? x : operand(x);
  }
};

Tensor avg(const Tensor& x, const Windows& w, const NodeNames& names = kAverage);

// The two are each other's transposes, so each is the other's gradient.
Tensor avg_transposed(const Tensor& g, const DimVector& sizes, Layout lies, const Windows& w, const NodeNames& names) {
  Tensor out = lies.result(sizes, g.scalar_type(), g.device());
  if (out.numel()) avg_pool_backward_kernel(g.device())(out, lies.operand(g), *w);
  if (needs_grad(g))
    record(gradient_name(names, g), out, {&g},
           [w, &names](Backward& b) -> variable_list { return {avg(b.grad(), w, names)}; });
  return out;
}

Tensor avg(const Tensor& x, const Windows& w, const NodeNames& names) {
  const Layout lies(x);
  Tensor out = lies.result(output_sizes(x, *w), x.scalar_type(), x.device());
  if (out.numel()) avg_pool_kernel(x.device())(out, lies.images(x), *w);
  if (needs_grad(x)) {
    record(node_name(names, x), out, {&x},
           [w, lies, &names, sizes = DimVector(x.impl().sizes())](Backward& b) -> variable_list {
             return {avg_transposed(b.grad(), sizes, lies, w, names)};
           });
  }
  return out;
}

Tensor max_gradient(const Tensor& g, const Tensor& index, const DimVector& sizes, Layout lies, const PoolWindows& w,
                    const NodeNames& names) {
  if (GradMode::is_enabled() && g.requires_grad()) {
    const Tensor flat = zeros({sizes[0], sizes[1], w.inputs()}, g.options());
    const Tensor all = flat.scatter_add(2, index.to(kLong).flatten(2), g.flatten(2)).reshape(sizes);
    return named(gradient_name(names, g), all, g);
  }
  Tensor out = lies.result(sizes, g.scalar_type(), g.device());
  if (out.numel()) max_pool_backward_kernel(g.device())(out, lies.operand(g), lies.operand(index), w);
  return out;
}

// The largest of each window, and (as int32) where it stands, if asked or needed.
Tensor max_of(const Tensor& x, const Windows& w, Tensor* index, const NodeNames& names = kLargest) {
  const Layout lies(x);
  const bool graph = needs_grad(x);
  const DimVector sizes = output_sizes(x, *w);
  Tensor out = lies.result(sizes, x.scalar_type(), x.device()), place;
  if (index || graph) {
    HB_CHECK(w->inputs() <= INT32_MAX, "[max_pool] expected planes of fewer than 2^31 elements, got an input of shape ",
             x.sizes());
    place = lies.result(sizes, index && x.device().is_cuda() ? kLong : kInt, x.device());  // CUDA's are what is seen
  }
  if (out.numel()) max_pool_kernel(x.device())(out, place, lies.images(x), *w);
  if (graph) {
    record(node_name(names, x), out, {&x}, {SavedTensor::input(place)},
           [w, lies, &names, in = DimVector(x.impl().sizes())](Backward& b, auto& s) -> variable_list {
             return {max_gradient(b.grad(), s[0], in, lies, *w, names)};
           });
  }
  if (index) *index = place;
  return out;
}

/// One image as a batch of one. Its result is contiguous.
template <class F>
Tensor batched(const Tensor& x, int dims, const NodeNames& names, const F& f) {
  if (x.dim() != dims + 1) return f(x);
  return named(names.forward[dims - 1], f(x.contiguous().unsqueeze(0)).squeeze(0), x);
}

/// The largest of short windows of rows that lie together, without their places: element by element of the windows, for
/// which nothing is brought into the order of channels. Undefined where that is not possible.
Tensor largest_of_rows(const Tensor& x, const PoolArgs& a) {
  const auto is = [](IntArrayRef given, int64_t value) { return given.size() == 1 && given[0] == value; };
  const bool plain = a.kernel.size() == 1 && a.kernel[0] > 1 && a.kernel[0] <= 4 && !a.ceil_mode && is(a.padding, 0) &&
                     is(a.dilation, 1) && (a.stride.empty() || (a.stride.size() == 1 && a.stride[0] > 0));
  if (!plain || x.impl().is_deferred() || !x.impl().physically_contiguous() || needs_grad(x)) return {};
  const int64_t kernel = a.kernel[0], step = a.stride.empty() ? kernel : a.stride[0], rest = x.size(-1) - kernel;
  if (rest < 0 || step > std::numeric_limits<int32_t>::max()) return {};
  const int64_t last = rest / step * step;
  Tensor largest = x.slice(-1, 0, last + 1, step);
  for (int64_t k = 1; k < kernel; ++k) largest = maximum(x.slice(-1, k, last + k + 1, step), largest);
  return largest;
}

Tensor max_pool(const char* name, int dims, const Tensor& x, const PoolArgs& a, Tensor* index) {
  if (dims == 1 && !index) ops::refuse_integers(name, x.scalar_type());
  if (is_integral_type(x.scalar_type(), false)) {
    const Tensor wide = x.to(kDouble);
    HB_CHECK(element_size(x.scalar_type()) < 8 || ops::largest_magnitude(wide) < ops::kExactInDouble, "[", name,
             "] of integers beyond 2^53 is not supported");
    const auto bits = static_cast<int>(8 * element_size(x.scalar_type()));
    const double lowest = x.scalar_type() == kByte ? 0 : -std::ldexp(1.0, bits - 1);  // of a window in the padding
    return max_pool(name, dims, wide, a, index).clamp_min(lowest).to(x.scalar_type());
  }
  check_pool_input(name, x, dims);
  if (dims == 1 && !index)
    if (Tensor largest = largest_of_rows(x, a); largest.defined()) return largest;
  const Tensor out =
      batched(x, dims, kLargest, [&](const Tensor& t) { return max_of(t, plain_windows(name, t, dims, a), index); });
  if (index) *index = (x.dim() == dims + 1 ? index->squeeze(0) : *index).to(kLong);
  return out;
}

Tensor avg_pool(const char* name, int dims, const Tensor& x, const PoolArgs& a, std::optional<int64_t> divisor);

// Means of int64 are cut towards zero: exact sums, each divided by the number of elements that its window counts.
Tensor avg_pool_of_integers(const char* name, int dims, const Tensor& x, const PoolArgs& a,
                            std::optional<int64_t> divisor) {
  const Tensor wide = x.to(kDouble), one = ones(x.sizes(), x.options().dtype(kDouble));
  HB_CHECK(ops::largest_magnitude(wide) * static_cast<double>(x.numel()) < ops::kExactInDouble, "[", name,
           "] of integers whose sums may be beyond 2^53 is not supported");
  const Tensor sums = avg_pool(name, dims, wide, a, 1), elements = avg_pool(name, dims, one, a, 1);
  const Tensor counts =
      divisor ? full_like(sums, *divisor) : (elements / avg_pool(name, dims, one, a, std::nullopt)).round();
  return where(elements == 0, zeros_like(sums), div(sums, counts, "trunc")).to(kLong);
}

Tensor avg_pool(const char* name, int dims, const Tensor& x, const PoolArgs& a, std::optional<int64_t> divisor) {
  HB_CHECK(!divisor || *divisor != 0, "[", name, "] divisor must be not zero");
  if (x.scalar_type() == kLong) return avg_pool_of_integers(name, dims, x, a, divisor);
  check_pool_input(name, x, dims);
  return batched(x, dims, kAverage, [&](const Tensor& t) {
    Windows w = plain_windows(name, t, dims, a);
    if (divisor) {
      auto own = std::make_shared<PoolWindows>(*w);
      own->divisor = static_cast<double>(*divisor);
      w = own;
    }
    return avg(t, w);
  });
}

Tensor adaptive_avg(const char* name, int dims, const Tensor& x, IntArrayRef output) {
  check_pool_input(name, x, dims, dims == 3 ? 1 : x.dim() - dims);
  // One value of each plane, where planes lie together: no need for channels-last.
  const bool planes = x.impl().physically_contiguous() && !output.empty() &&
                      std::all_of(output.begin(), output.end(), [](int64_t n) { return n == 1; });
  if (planes && output.size() == static_cast<size_t>(dims)) {
    const int64_t last[] = {-1, -2, -3};
    return x.mean(IntArrayRef(last, dims), true);
  }
  return batched(x, dims, kAdaptiveAverage,
                 [&](const Tensor& t) { return avg(t, adaptive_windows(name, t, dims, output), kAdaptiveAverage); });
}

TensorTuple2 adaptive_max(const char* name, int dims, const Tensor& x, IntArrayRef output) {
  check_pool_input(name, x, dims, 1);
  Tensor index;
  const Tensor out = batched(x, dims, kAdaptiveLargest, [&](const Tensor& t) {
    return max_of(t, adaptive_windows(name, t, dims, output), &index, kAdaptiveLargest);
  });
  return {out, (x.dim() == dims + 1 ? index.squeeze(0) : index).to(kLong)};
}

Tensor max_unpool(const char* name, int dims, const Tensor& x, const Tensor& indices, IntArrayRef output) {
  check_pool_input(name, x, dims);
  HB_CHECK(indices.scalar_type() == kLong, "[", name,
           "] elements in indices should be type int64 but got: ", indices.scalar_type());
  HB_CHECK(indices.sizes() == x.sizes(), "[", name,
           "] Expected shape of indices to be same as that of the input tensor (", x.sizes(),
           ") but got indices tensor with shape: ", indices.sizes());
  HB_CHECK(output.size() == static_cast<size_t>(dims), "[", name, "] expected an output_size of ", dims,
           " values, got ", output);
  DimVector flat(x.sizes().data(), x.sizes().data() + x.dim() - dims);
  DimVector full = flat;
  int64_t plane = 1;
  for (int64_t o : output) plane *= o, full.push_back(o);
  flat.push_back(plane);
  const int64_t start = x.dim() - dims;
  const Tensor at = indices.flatten(start);
  if (at.numel()) {
    NoGradGuard guard;
    const auto [least, most] = aminmax(at);
    const int64_t low = least.item<int64_t>(), high = most.item<int64_t>();
    HB_CHECK(low >= 0 && high < plane, "[", name, "] Found an invalid max index: ", low < 0 ? low : high,
             ": expected indices in [0, ", plane, ")");
  }
  const Tensor out = zeros(flat, x.options()).scatter(start, at, x.flatten(start)).view(full);
  return named(dims == 3 ? "MaxUnpool3DBackward0" : "MaxUnpool2DBackward0", ops::in_layout_of(x, out), x);
}

}  // namespace

// pool_class, unpool_class: what the CPU's list of autocast says; CUDA's has none of them.
#define HB_POOL(nd, n, pool_class, unpool_class)                                                                       \
  Tensor max_pool##nd(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,            \
                      IntArrayRef dilation, bool ceil_mode) {                                                          \
    HB_AUTOCAST(max_pool##nd, pool_class, as_is, self, kernel_size, stride, padding, dilation, ceil_mode);             \
    return max_pool("max_pool" #nd, n, self, {kernel_size, stride, padding, dilation, ceil_mode}, nullptr);            \
  }                                                                                                                    \
  TensorTuple2 max_pool##nd##_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,            \
                                           IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {                \
    HB_FUNCTION(max_pool##nd##_with_indices, self, kernel_size, stride, padding, dilation, ceil_mode);                 \
    Tensor index;                                                                                                      \
    const Tensor out = max_pool("max_pool" #nd, n, self, {kernel_size, stride, padding, dilation, ceil_mode}, &index); \
    return {out, index};                                                                                               \
  }                                                                                                                    \
  Tensor adaptive_avg_pool##nd(const Tensor& self, IntArrayRef output_size) {                                          \
    HB_AUTOCAST(adaptive_avg_pool##nd, pool_class, as_is, self, output_size);                                          \
    return adaptive_avg("adaptive_avg_pool" #nd, n, self, output_size);                                                \
  }                                                                                                                    \
  TensorTuple2 adaptive_max_pool##nd(const Tensor& self, IntArrayRef output_size) {                                    \
    HB_AUTOCAST(adaptive_max_pool##nd, pool_class, as_is, self, output_size);                                          \
    return adaptive_max("adaptive_max_pool" #nd, n, self, output_size);                                                \
  }                                                                                                                    \
  Tensor max_unpool##nd(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {                          \
    HB_AUTOCAST(max_unpool##nd, unpool_class, as_is, self, indices, output_size);                                      \
    return max_unpool("max_unpool" #nd, n, self, indices, output_size);                                                \
  }
HB_POOL(1d, 1, as_is, as_is)
HB_POOL(2d, 2, as_is, fp32)
HB_POOL(3d, 3, fp32, fp32)

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad) {
  HB_FUNCTION(avg_pool1d, self, kernel_size, stride, padding, ceil_mode, count_include_pad);
  return avg_pool("avg_pool1d", 1, self, {kernel_size, stride, padding, 1, ceil_mode, count_include_pad}, std::nullopt);
}
Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int64_t> divisor_override) {
  HB_FUNCTION(avg_pool2d, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  return avg_pool("avg_pool2d", 2, self, {kernel_size, stride, padding, 1, ceil_mode, count_include_pad},
                  divisor_override);
}
Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int64_t> divisor_override) {
  HB_AUTOCAST(avg_pool3d, fp32, as_is, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
              divisor_override);
  HB_CHECK_SUPPORTED(!is_half_type(self.scalar_type()) || !self.device().is_cpu(), "[avg_pool3d] not implemented for '",
                     toString(self.scalar_type()), "'");
  return avg_pool("avg_pool3d", 3, self, {kernel_size, stride, padding, 1, ceil_mode, count_include_pad},
                  divisor_override);
}

}  // namespace hb
