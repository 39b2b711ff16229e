#include <halfbridge/bridge/nn/pooling.h>

#include <halfbridge/ops.h>

namespace hb::bridge::nn::functional {

namespace {

// Sizes that were left out are the input's.
template <size_t D>
std::vector<int64_t> output_size_of(const Tensor& input, const ExpandingArrayWithOptionalElem<D>& wanted) {
  HB_CHECK(input.dim() >= static_cast<int64_t>(D), "[adaptive_pool] expected an input of at least ", D,
           " dimensions, got ", input.sizes());
  std::vector<int64_t> size;
  for (size_t i = 0; i < D; ++i)
    size.push_back((*wanted)[i].value_or(input.size(input.dim() - static_cast<int64_t>(D - i))));
  return size;
}
std::vector<int64_t> output_size_of(const Tensor&, const ExpandingArray<1>& wanted) { return {(*wanted)[0]}; }

// The size that pooling had halved: the default one, or the one asked for if it is within one stride of it.
template <size_t D>
std::vector<int64_t> unpooled_size(const Tensor& input, const MaxUnpoolFuncOptions<D>& o) {
  std::vector<int64_t> size;
  const int64_t leading = input.dim() - static_cast<int64_t>(D);
  for (size_t d = 0; d < D; ++d)
    size.push_back((input.size(leading + static_cast<int64_t>(d)) - 1) * (*o.stride())[d] + (*o.kernel_size())[d] -
                   2 * (*o.padding())[d]);
  if (!o.output_size()) return size;
  std::vector<int64_t> wanted = *o.output_size();
  if (wanted.size() == D + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  HB_CHECK(wanted.size() == D, "output_size should be a sequence containing ", D, " or ", D + 2,
           " elements, but it has a length of '", wanted.size(), "'");
  for (size_t d = 0; d < D; ++d) {
    const int64_t least = size[d] - (*o.stride())[d], most = size[d] + (*o.stride())[d];
    HB_CHECK(wanted[d] > least && wanted[d] < most, "invalid output_size ", IntArrayRef(wanted), " (dim ", d,
             " must be between ", least, " and ", most, ")");
  }
  return wanted;
}

template <size_t D>
int64_t product(const ExpandingArray<D>& values) {
  int64_t p = 1;
  for (int64_t v : *values) p *= v;
  return p;
}
// The p-norm of each window, from its average of p-th powers.
Tensor lp_from_average(const Tensor& average, int64_t window, double p) {
  return (hb::sign(average) * hb::relu(hb::abs(average))).mul(window).pow(1. / p);
}

}  // namespace

Tensor avg_pool1d(const Tensor& x, const AvgPool1dFuncOptions& o) {
  return hb::avg_pool1d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad());
}
Tensor avg_pool2d(const Tensor& x, const AvgPool2dFuncOptions& o) {
  return hb::avg_pool2d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                        o.divisor_override());
}
Tensor avg_pool3d(const Tensor& x, const AvgPool3dFuncOptions& o) {
  return hb::avg_pool3d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                        o.divisor_override());
}

#define HB_POOL_FUNCTIONS(nd, D)                                                                                      \
  Tensor max_pool##nd(const Tensor& x, const MaxPool##D##dFuncOptions& o) {                                           \
    return hb::max_pool##nd(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());                \
  }                                                                                                                   \
  std::tuple<Tensor, Tensor> max_pool##nd##_with_indices(const Tensor& x, const MaxPool##D##dFuncOptions& o) {        \
    return hb::max_pool##nd##_with_indices(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode()); \
  }                                                                                                                   \
  Tensor adaptive_avg_pool##nd(const Tensor& x, const AdaptiveAvgPool##D##dFuncOptions& o) {                          \
    return hb::adaptive_avg_pool##nd(x, output_size_of(x, o.output_size()));                                          \
  }                                                                                                                   \
  Tensor adaptive_max_pool##nd(const Tensor& x, const AdaptiveMaxPool##D##dFuncOptions& o) {                          \
    return std::get<0>(hb::adaptive_max_pool##nd(x, output_size_of(x, o.output_size())));                             \
  }                                                                                                                   \
  std::tuple<Tensor, Tensor> adaptive_max_pool##nd##_with_indices(const Tensor& x,                                    \
                                                                  const AdaptiveMaxPool##D##dFuncOptions& o) {        \
    return hb::adaptive_max_pool##nd(x, output_size_of(x, o.output_size()));                                          \
  }                                                                                                                   \
  Tensor max_unpool##nd(const Tensor& x, const Tensor& indices, const MaxUnpool##D##dFuncOptions& o) {                \
    return hb::max_unpool##nd(x, indices, unpooled_size(x, o));                                                       \
  }                                                                                                                   \
  Tensor lp_pool##nd(const Tensor& x, const LPPool##D##dFuncOptions& o) {                                             \
    Tensor average = hb::avg_pool##nd(x.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode());           \
    return lp_from_average(average, product(o.kernel_size()), o.norm_type());                                         \
  }
HB_POOL_FUNCTIONS(1d, 1)
HB_POOL_FUNCTIONS(2d, 2)
HB_POOL_FUNCTIONS(3d, 3)
#undef HB_POOL_FUNCTIONS

}  // namespace hb::bridge::nn::functional
