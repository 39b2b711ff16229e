#include "ops/nn/conv_call.h"

#include <algorithm>
#include <functional>

namespace hb::ops {
namespace {

void fill(const char* name, const char* what, IntArrayRef values, int dims, int64_t* out, int64_t least) {
  HB_CHECK(values.size() == 1 || values.size() == static_cast<size_t>(dims), "[", name, "] expected ", what,
           " to be a single integer value or a list of ", dims, " values to match the convolution dimensions, but got ",
           what, "=", values);
  for (int d = 0; d < dims; ++d) {
    out[d] = values[values.size() == 1 ? 0 : d];
    HB_CHECK(out[d] >= least, "[", name, "] ", least > 0 ? "non-positive " : "negative ", what,
             " is not supported, got ", values);
  }
}

// As messages show sizes: (4 x 6).
std::string product_of_sizes(int dims, const std::function<int64_t(int)>& size) {
  std::string text = "(";
  for (int d = 0; d < dims; ++d) text += (d ? " x " : "") + std::to_string(size(d));
  return text + ")";
}
std::string padded_sizes(const Tensor& x, const ConvCall& c) {
  return product_of_sizes(c.p.dims, [&](int d) { return x.size(2 + d) + 2 * c.p.padding[d]; });
}
std::string extents(const Tensor& w, const ConvCall& c) {
  return product_of_sizes(c.p.dims, [&](int d) { return c.p.dilation[d] * (w.size(2 + d) - 1) + 1; });
}

}  // namespace

ConvCall conv_call(const char* name, int dims, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                   bool transposed, IntArrayRef output_padding, int64_t groups) {
  ConvCall c;
  c.p.dims = dims, c.p.groups = groups, c.transposed = transposed;
  fill(name, "stride", stride, dims, c.p.stride, 1);
  fill(name, "padding", padding, dims, c.p.padding, 0);
  fill(name, "dilation", dilation, dims, c.p.dilation, 1);
  fill(name, "output_padding", output_padding, dims, c.output_padding, 0);
  HB_CHECK(groups >= 1, "[", name, "] non-positive groups is not supported, got ", groups);
  return c;
}

void check_convolution(const char* name, const Tensor& x, const Tensor& w, const Tensor& bias, const ConvCall& c) {
  HB_CHECK(is_floating_type(x.scalar_type()), "[", name, "] expected a floating input, got ", x.scalar_type());
  HB_CHECK(x.scalar_type() == w.scalar_type() && (!bias.defined() || bias.scalar_type() == x.scalar_type()), "[", name,
           "] Input type, weight type and bias type should be the same, got ", x.scalar_type(), ", ", w.scalar_type(),
           " and ", bias.defined() ? toString(bias.scalar_type()) : "no bias");
  HB_CHECK(w.dim() == c.p.dims + 2, "[", name, "] expected a weight of ", c.p.dims + 2, " dimensions, got ", w.sizes());
  HB_CHECK(x.dim() == w.dim(), "[", name, "] Expected ", c.p.dims + 1, "D (unbatched) or ", c.p.dims + 2,
           "D (batched) input to ", name, ", but got input of size: ", x.sizes());
  const int64_t groups = c.p.groups;
  HB_CHECK(w.size(0) >= groups, "[", name, "] Given groups=", groups, ", expected weight to be at least ", groups,
           " at dimension 0, but got weight of size ", w.sizes(), " instead");
  HB_CHECK(w.size(0) % groups == 0, "[", name, "] Given groups=", groups, ", expected weight to be divisible by ",
           groups, " at dimension 0, but got weight of size ", w.sizes(), " instead");
  const int64_t wanted = c.transposed ? w.size(0) : w.size(1) * groups;
  HB_CHECK(x.size(1) == wanted, "[", name, "] Given ",
           c.transposed ? "transposed=1" : "groups=", c.transposed ? "" : std::to_string(groups), ", weight of size ",
           w.sizes(), ", expected input", x.sizes(), " to have ", wanted, " channels, but got ", x.size(1),
           " channels instead");
  const int64_t out = c.transposed ? w.size(1) * groups : w.size(0);
  HB_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == out), "[", name, "] Given weight of size ", w.sizes(),
           ", expected bias to be 1-dimensional with ", out, " elements, but got bias of size ", bias.sizes(),
           " instead");
}

DimVector convolution_sizes(const char* name, const Tensor& x, const Tensor& w, const ConvCall& c) {
  DimVector out(x.impl().sizes());
  out[1] = x.size(1) == 0 ? 0 : c.transposed ? w.size(1) * c.p.groups : w.size(0);
  for (int d = 0; d < c.p.dims; ++d) {
    const int64_t kernel = c.p.dilation[d] * (w.size(2 + d) - 1) + 1, in = x.size(2 + d);
    if (c.transposed) {
      HB_CHECK(c.output_padding[d] < std::max(c.p.stride[d], c.p.dilation[d]), "[", name,
               "] output padding must be smaller than either stride or dilation, but got ", c.output_padding[d]);
      out[2 + d] = (in - 1) * c.p.stride[d] - 2 * c.p.padding[d] + kernel + c.output_padding[d];
    } else {
      HB_CHECK(in + 2 * c.p.padding[d] >= kernel, "[", name,
               "] Calculated padded input size per channel: ", padded_sizes(x, c), ". Kernel size: ", extents(w, c),
               ". Kernel size can't be greater than actual input size: input ", x.sizes(), ", weight ", w.sizes());
      out[2 + d] = (in + 2 * c.p.padding[d] - kernel) / c.p.stride[d] + 1;
    }
    HB_CHECK(out[2 + d] > 0, "[", name, "] expected a result of at least one element, got size ", out[2 + d],
             " from input ", x.sizes(), " and weight ", w.sizes());
  }
  return out;
}

bool pads_a_stride(const ConvCall& c) {
  for (int d = 0; d < c.p.dims; ++d)
    if (c.transposed && c.output_padding[d] >= c.p.stride[d]) return true;
  return false;
}

ConvCall of_whole_result(ConvCall c) {
  std::fill_n(c.p.padding, c.p.dims, 0);
  std::fill_n(c.output_padding, c.p.dims, 0);
  return c;
}

std::vector<int64_t> padding_of_whole(const ConvCall& c, bool back) {
  std::vector<int64_t> out;
  for (int d = c.p.dims - 1; d >= 0; --d) {
    const int64_t before = -c.p.padding[d], after = c.output_padding[d] - c.p.padding[d];
    out.push_back(back ? -before : before);
    out.push_back(back ? -after : after);
  }
  return out;
}

}  // namespace hb::ops
