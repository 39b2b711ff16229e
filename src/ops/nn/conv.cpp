// Convolutions. They run channels-last inside whatever layout the program uses (ops/common/layout.h).
#include <halfbridge/ops.h>
#include <halfbridge/ops/gradients.h>

#include "autocast/autocast.h"
#include "autograd/destination.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/gemm.h"
#include "core/warnings.h"
#include "ops/common/layout.h"
#include "ops/common/or_undefined.h"
#include "ops/nn/conv_call.h"
#include "ops/nn/conv_of_parts.h"
#include "ops/nn/patch_conv.h"
#include "ops/nn/reordered_weights.h"

namespace hb {
namespace {

using ops::check_convolution;
using ops::conv_call;
using ops::ConvCall;
using ops::convolution_sizes;

Tensor dense(const Tensor& t) { return t.defined() ? ops::to_contiguous(t) : t; }

/// A weight as the device's kernels take it.
Tensor in_kernels_order(const Tensor& w) {
  return ops::wants_reordered_weights(w.device()) ? ops::reordered_weight(w) : dense(w);
}
/// Memory for a weight's gradient.
Tensor empty_weight_gradient(const Tensor& w) {
  if (!ops::wants_reordered_weights(w.device())) return empty(w.sizes(), w.options());
  return ops::empty_channels_last(w.impl().sizes(), w.scalar_type(), w.device(), ops::is_visibly_channels_last(w));
}

int64_t rows_of(const Tensor& t) { return t.size(1) ? t.numel() / t.size(1) : 0; }

// y = conv(x), or for a transposed one the gradient that a convolution would give its input.
Tensor run_forward(const Tensor& x, const Tensor& w, const Tensor& weight, const Tensor& bias, const ConvCall& c,
                   const DimVector& sizes) {
  const bool visible = ops::is_visibly_channels_last(x) || ops::is_visibly_channels_last(w);
  Tensor out = ops::empty_channels_last(sizes, x.scalar_type(), x.device(), visible);
  if (out.numel() == 0) return out;
  const Tensor b = dense(bias);
  if (ops::tiles_by_patches(x, weight, c)) {
    ops::patch_forward(out, x, weight, b, c);
    return out;
  }
  const Tensor in = ops::to_channels_last(x);
  if (!c.transposed) {
    conv_forward_kernel(x.device())(out, in, weight, b, c.p);
    return out;
  }
  conv_backward_data_kernel(x.device())(out, in, weight, c.p);
  if (b.defined())
    add_bias_kernel(x.device())(x.scalar_type(), rows_of(out), out.size(1), out.impl().raw_data(), b.impl().raw_data());
  return out;
}

// `weight`: the kernels' order of it.
Tensor input_gradient(const Tensor& g, const Tensor& x, const Tensor& weight, const ConvCall& c) {
  if (g.numel() != 0 && ops::tiles_by_patches(x, weight, c))
    return ops::patch_input_gradient(ops::to_channels_last(g), x, weight, c);
  Tensor out =
      ops::empty_channels_last(x.impl().sizes(), x.scalar_type(), x.device(), ops::is_visibly_channels_last(x));
  if (g.numel() == 0) return out.zero_();
  if (out.numel() == 0) return out;
  const Tensor grad = ops::to_channels_last(g);
  if (c.transposed) {
    conv_forward_kernel(x.device())(out, grad, weight, Tensor(), c.p);
  } else {
    conv_backward_data_kernel(x.device())(out, grad, weight, c.p);
  }
  return out;
}

// `dw` may have memory already.
void weight_gradient(const Tensor& g, const Tensor& x, const Tensor& w, const ConvCall& c, bool with_bias, Tensor& dw,
                     Tensor& db) {
  if (!dw.defined()) dw = empty_weight_gradient(w);
  if (x.numel() == 0 || g.numel() == 0) {
    dw.zero_();
    if (with_bias) db = zeros({g.size(1)}, w.options());
    return;
  }
  const Tensor grad = ops::to_channels_last(g);
  if (ops::tiles_by_patches(x, dw, c) && ops::patches_pay_for_weights(x, c))
    return ops::patch_weight_gradient(dw, with_bias ? &db : nullptr, grad, x, c);
  if (with_bias) db = empty({g.size(1)}, w.options());
  const Tensor in = ops::to_channels_last(x);
  if (!c.transposed) return conv_backward_weight_kernel(x.device())(dw, db, in, grad, c.p);
  // The roles of input and result change places.
  conv_backward_weight_kernel(x.device())(dw, Tensor(), grad, in, c.p);
  if (with_bias)
    column_sum_kernel(x.device())(g.scalar_type(), db.impl().visible_data(), grad.impl().raw_data(), rows_of(grad),
                                  grad.size(1), grad.size(1));
}

Tensor bias_gradient(const Tensor& g) {
  std::vector<int64_t> dims{0};
  for (int64_t d = 2; d < g.dim(); ++d) dims.push_back(d);
  return g.sum(dims);
}

IntArrayRef list(const int64_t* values, int dims) { return {values, static_cast<size_t>(dims)}; }

Tensor differentiable_weight_gradient(const Tensor& g, const Tensor& x, const Tensor& w, const ConvCall& c);

// A convolution is linear in each operand, so the gradients of its gradients are convolutions again.
Tensor differentiable_input_gradient(const Tensor& g, const Tensor& x, const Tensor& w, const ConvCall& c) {
  const int n = c.p.dims;
  if (c.transposed)
    return convolution(g, w, {}, list(c.p.stride, n), list(c.p.padding, n), list(c.p.dilation, n), false,
                       list(c.output_padding, n), c.p.groups);
  DimVector extra(n, 0);
  for (int d = 0; d < n; ++d) {
    const int64_t kernel = c.p.dilation[d] * (w.size(2 + d) - 1) + 1;
    extra[d] = x.size(2 + d) - ((g.size(2 + d) - 1) * c.p.stride[d] - 2 * c.p.padding[d] + kernel);
  }
  return convolution(g, w, {}, list(c.p.stride, n), list(c.p.padding, n), list(c.p.dilation, n), true, extra,
                     c.p.groups);
}

/// Where the input has no channels: the result has none either, and depends on nothing.
TensorTuple3 zero_gradients(const Tensor& x, const Tensor& w, const ConvCall& c, std::array<bool, 3> wanted) {
  const int64_t outputs = c.transposed ? w.size(1) * c.p.groups : w.size(0);
  return {wanted[0] ? zeros_like(x) : Tensor(), wanted[1] ? zeros_like(w) : Tensor(),
          wanted[2] ? zeros({outputs}, w.options()) : Tensor()};
}

variable_list convolution_gradients(Backward& b, const Tensor& x, const Tensor& w, const Tensor& weight,
                                    const ConvCall& c) {
  const Tensor& g = b.grad();
  Tensor dx, dw, db;
  if (x.size(1) == 0) {
    std::tie(dx, dw, db) = zero_gradients(x, w, c, {b.needs(0), b.needs(1), b.needs(2)});
    return {dx, dw, db};
  }
  if (GradMode::is_enabled()) {
    if (b.needs(0)) dx = named("ConvolutionBackwardBackward0", differentiable_input_gradient(g, x, w, c), g);
    if (b.needs(1)) dw = differentiable_weight_gradient(g, x, w, c);
    if (b.needs(2)) db = named("ConvolutionBackwardBackward0", bias_gradient(g), g);
    return {dx, dw, db};
  }
  if (b.needs(0)) dx = input_gradient(g, x, weight.defined() ? weight : in_kernels_order(w), c);
  if (b.needs(1)) {
    if (!ops::wants_reordered_weights(w.device())) dw = destination_of(b, 1, w.sizes(), w.options());
    weight_gradient(g, x, w, c, b.needs(2), dw, db);
  } else if (b.needs(2)) {
    db = bias_gradient(g);
  }
  return {dx, dw, db};
}

Tensor differentiable_weight_gradient(const Tensor& g, const Tensor& x, const Tensor& w, const ConvCall& c) {
  Tensor dw, db;
  weight_gradient(g.detach(), x.detach(), w, c, false, dw, db);
  if (needs_grad(g, x)) {
    record("ConvolutionBackwardBackward0", dw, {&g, &x}, {SavedTensor::input(g), SavedTensor::input(x)},
           [c](Backward& b, auto& s) -> variable_list {
             // dw is bilinear in g and x: each gets the convolution with the gradient of dw in the weight's place.
             const int n = c.p.dims;
             const Tensor &g2 = s[0], &x2 = s[1], &v = b.grad();
             Tensor dg, dx;
             if (b.needs(0))
               dg = convolution(x2, v, {}, list(c.p.stride, n), list(c.p.padding, n), list(c.p.dilation, n),
                                c.transposed, list(c.output_padding, n), c.p.groups);
             if (b.needs(1)) dx = differentiable_input_gradient(g2, x2, v, c);
             return {dg, dx};
           });
  }
  return dw;
}

Tensor convolution_checked(const char* name, const Tensor& x, const Tensor& w, const Tensor& bias, const ConvCall& c) {
  const ScalarType t = x.scalar_type();
  if (HB_UNLIKELY(!is_floating_type(t) && w.scalar_type() == t && (!bias.defined() || bias.scalar_type() == t))) {
    const auto floating = [&](const Tensor& a, const Tensor& b, const Tensor& d) {
      return convolution_checked(name, a, b, d, c);
    };
    if (is_complex_type(t)) return ops::complex_convolution(x, w, bias, floating);
    HB_CHECK_SUPPORTED(t != kBool && (!c.transposed || t == kLong), "[", name, "] not implemented for '", toString(t),
                       "'");
    if (is_integral_type(t, false)) return ops::integer_convolution(name, x, w, bias, floating);
  }
  check_convolution(name, x, w, bias, c);
  const DimVector sizes = convolution_sizes(name, x, w, c);
  if (HB_UNLIKELY(ops::pads_a_stride(c)) && x.size(1) > 0) {
    const Tensor whole = convolution_checked(name, x, w, {}, ops::of_whole_result(c));
    const Tensor out = constant_pad_nd(whole, ops::padding_of_whole(c));
    return named("ConvolutionBackward0", bias.defined() ? out + ops::channel_row(bias, x.dim()) : out, x);
  }
  const Tensor weight = in_kernels_order(w);
  Tensor out = run_forward(x, w, weight, bias, c, sizes);
  if (needs_grad(x, w, bias)) {
    const bool keep = x.requires_grad() && ops::wants_reordered_weights(w.device());
    record("ConvolutionBackward0", out, {&x, &w, &bias},
           {SavedTensor::input(x), SavedTensor::input(w), keep ? SavedTensor::input(weight) : SavedTensor()},
           [c](Backward& b, auto& s) -> variable_list { return convolution_gradients(b, s[0], s[1], s[2], c); });
  }
  return out;
}

// Adds the batch dimension that an unbatched input lacks.
Tensor convolution_of(const char* name, int dims, const Tensor& x, const Tensor& w, const Tensor& bias,
                      const ConvCall& c) {
  if (x.dim() == dims + 1) return convolution_checked(name, x.unsqueeze(0), w, bias, c).squeeze(0);
  return convolution_checked(name, x, w, bias, c);
}

Tensor conv(const char* name, int dims, const Tensor& x, const Tensor& w, const Tensor& bias, IntArrayRef stride,
            IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return convolution_of(name, dims, x, w, bias, conv_call(name, dims, stride, padding, dilation, false, 0, groups));
}

// "same": as much padding as keeps the size; the odd one goes to the end.
Tensor conv(const char* name, int dims, const Tensor& x, const Tensor& w, const Tensor& bias, IntArrayRef stride,
            std::string_view padding, IntArrayRef dilation, int64_t groups) {
  HB_CHECK(padding == "same" || padding == "valid", "[", name, "] Invalid padding string: '", padding, "'");
  ConvCall c = conv_call(name, dims, stride, 0, dilation, false, 0, groups);
  if (padding == "valid") return convolution_of(name, dims, x, w, bias, c);
  HB_CHECK(w.dim() == dims + 2, "[", name, "] expected a weight of ", dims + 2, " dimensions, got ", w.sizes());
  std::vector<int64_t> extra(2 * dims, 0);
  bool uneven = false;
  for (int d = 0; d < dims; ++d) {
    HB_CHECK(c.p.stride[d] == 1, "[", name, "] padding='same' is not supported for strided convolutions, got ", stride);
    const int64_t total = c.p.dilation[d] * (w.size(2 + d) - 1);
    c.p.padding[d] = total / 2;
    extra[2 * (dims - 1 - d) + 1] = total % 2;
    uneven |= total % 2 != 0;
  }
  if (uneven)
    HB_WARN_ONCE(
        "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
        "input be created");
  return convolution_of(name, dims, uneven ? constant_pad_nd(x, extra) : x, w, bias, c);
}

}  // namespace

#define HB_CONV(nd, n)                                                                                            \
  Tensor conv##nd(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_or_none,           \
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {                \
    const Tensor& bias = or_undefined(bias_or_none);                                                              \
    HB_AUTOCAST(conv##nd, half, half, input, weight, bias, stride, padding, dilation, groups);                    \
    return conv("conv" #nd, n, input, weight, bias, stride, padding, dilation, groups);                           \
  }                                                                                                               \
  Tensor conv##nd(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_or_none,           \
                  IntArrayRef stride, std::string_view padding, IntArrayRef dilation, int64_t groups) {           \
    const Tensor& bias = or_undefined(bias_or_none);                                                              \
    HB_AUTOCAST(conv##nd, half, half, input, weight, bias, stride, padding, dilation, groups);                    \
    return conv("conv" #nd, n, input, weight, bias, stride, padding, dilation, groups);                           \
  }                                                                                                               \
  Tensor conv_transpose##nd(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_or_none, \
                            IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, int64_t groups,  \
                            IntArrayRef dilation) {                                                               \
    const Tensor& bias = or_undefined(bias_or_none);                                                              \
    HB_AUTOCAST(conv_transpose##nd, half, half, input, weight, bias, stride, padding, output_padding, groups,     \
                dilation);                                                                                        \
    const char* name = "conv_transpose" #nd;                                                                      \
    return convolution_of(name, n, input, weight, bias,                                                           \
                          conv_call(name, n, stride, padding, dilation, true, output_padding, groups));           \
  }
HB_CONV(1d, 1)
HB_CONV(2d, 2)
HB_CONV(3d, 3)

TensorTuple3 convolution_backward(const Tensor& grad_output, const Tensor& x, const Tensor& w,
                                  OptionalIntArrayRef /*bias_sizes*/, IntArrayRef stride, IntArrayRef padding,
                                  IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups,
                                  std::array<bool, 3> mask) {
  const char* name = "convolution_backward";
  const int dims = static_cast<int>(w.dim()) - 2;
  HB_CHECK(dims >= 1 && dims <= 3, "[", name, "] expected a weight of 3 to 5 dimensions, got ", w.sizes());
  ConvCall c = conv_call(name, dims, stride, padding, dilation, transposed, output_padding, groups);
  check_convolution(name, x, w, Tensor(), c);
  const DimVector sizes = convolution_sizes(name, x, w, c);
  HB_CHECK(grad_output.sizes() == IntArrayRef(sizes) && grad_output.scalar_type() == x.scalar_type(), "[", name,
           "] expected a grad_output of ", x.scalar_type(), " with sizes ", IntArrayRef(sizes), ", got ",
           grad_output.scalar_type(), " and ", grad_output.sizes());
  if (x.size(1) == 0) return zero_gradients(x, w, c, mask);
  Tensor g = grad_output;
  if (ops::pads_a_stride(c)) g = constant_pad_nd(g, ops::padding_of_whole(c, true)), c = ops::of_whole_result(c);
  const bool again = GradMode::is_enabled() && needs_grad(g, x, w);
  Tensor dx, dw, db;
  if (mask[0]) dx = again ? differentiable_input_gradient(g, x, w, c) : input_gradient(g, x, in_kernels_order(w), c);
  if (mask[1]) dw = differentiable_weight_gradient(g, x, w, c);
  if (mask[2]) db = bias_gradient(grad_output);
  return {dx, dw, db};
}

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_or_none,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const Tensor& bias = or_undefined(bias_or_none);
  HB_AUTOCAST(convolution, closed, half, input, weight, bias, stride, padding, dilation, transposed, output_padding,
              groups);
  const int dims = static_cast<int>(weight.dim()) - 2;
  HB_CHECK(dims >= 1 && dims <= 3, "[convolution] expected a weight of 3 to 5 dimensions, got ", weight.sizes());
  return convolution_of("convolution", dims, input, weight, bias,
                        conv_call("convolution", dims, stride, padding, dilation, transposed, output_padding, groups));
}

}  // namespace hb
