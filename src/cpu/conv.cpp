#include "cpu/conv.h"

#include <halfbridge/ops.h>

#include "core/geometry.h"
#include "cpu/amx/amx.h"
#include "cpu/gemm.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"
#include "cpu/winograd.h"

namespace hb::cpu {
namespace {

// oneDNN computes f32 and, where the CPU does, bf16. Other halves go through float copies with the same layout.
bool is_native(ScalarType t) { return t == kFloat || (t == kBFloat16 && has_fast_bf16()); }

bool by_tiles(ScalarType t) { return t == kBFloat16 && has_bf16_tiles(); }

Tensor raw(const Tensor& like, ScalarType dtype) {
  auto impl = make_intrusive<TensorImpl>(
      StorageImpl::allocate(geometry::bytes(like.numel(), element_size(dtype)), like.device()), dtype,
      like.impl().sizes(), like.impl().physical_strides(), 0);
  return Tensor(std::move(impl));
}

Tensor as_float(const Tensor& t) {
  if (!t.defined()) return t;
  Tensor out = raw(t, kFloat);
  const auto* in = static_cast<const char*>(t.impl().raw_data());
  auto* to = static_cast<float*>(out.impl().raw_data());
  parallel_for(0, t.numel(), kGrain, [&](int64_t from, int64_t end) {
    gemm_loops().to_float(t.scalar_type(), in + from * 2, to + from, end - from);
  });
  return out;
}
Tensor float_like(const Tensor& t) { return t.defined() ? raw(t, kFloat) : t; }
void round_into(const Tensor& out, const Tensor& value) {
  if (!out.defined()) return;
  const auto* in = static_cast<const float*>(value.impl().raw_data());
  auto* to = static_cast<char*>(out.impl().raw_data());
  parallel_for(0, out.numel(), kGrain, [&](int64_t from, int64_t end) {
    gemm_loops().from_float(out.scalar_type(), in + from, to + from * 2, end - from);
  });
}

const UnfoldConv& unfold_conv() { return isa_level() >= 4 ? v4::unfold_conv : v3::unfold_conv; }

void forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  const ScalarType t = x.scalar_type();
  if (winograd_forward(y, x, weight, bias, p)) return;
  if (by_tiles(t) && amx::conv_forward(y, x, weight, bias, p)) return;
  if (is_native(t) && onednn_conv_forward(y, x, weight, bias, p)) return;
  if (!is_half_type(t)) return unfold_conv().forward(y, x, weight, bias, p);
  const Tensor wide = float_like(y);
  forward(wide, as_float(x), as_float(weight), as_float(bias), p);
  round_into(y, wide);
}

void backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  const ScalarType t = grad_x.scalar_type();
  if (winograd_backward_data(grad_x, grad_y, weight, p)) return;
  if (by_tiles(t) && amx::conv_backward_data(grad_x, grad_y, weight, p)) return;
  if (product_conv_backward_data(grad_x, grad_y, weight, p)) return;
  if (is_native(t) && onednn_conv_backward_data(grad_x, grad_y, weight, p)) return;
  if (!is_half_type(t)) return unfold_conv().backward_data(grad_x, grad_y, weight, p);
  const Tensor wide = float_like(grad_x);
  backward_data(wide, as_float(grad_y), as_float(weight), p);
  round_into(grad_x, wide);
}

void backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                     const ConvParams& p) {
  const ScalarType t = x.scalar_type();
  if (winograd_backward_weight(grad_weight, grad_bias, x, grad_y, p)) return;
  if (by_tiles(t) && amx::conv_backward_weight(grad_weight, grad_bias, x, grad_y, p)) return;
  if (product_conv_backward_weight(grad_weight, grad_bias, x, grad_y, p)) return;
  if (is_native(t) && onednn_conv_backward_weight(grad_weight, grad_bias, x, grad_y, p)) return;
  if (!is_half_type(t)) return unfold_conv().backward_weight(grad_weight, grad_bias, x, grad_y, p);
  const Tensor wide = float_like(grad_weight), wide_bias = float_like(grad_bias);
  backward_weight(wide, wide_bias, as_float(x), as_float(grad_y), p);
  round_into(grad_weight, wide);
  round_into(grad_bias, wide_bias);
}

HB_REGISTER_CPU(conv_forward_kernel, forward);
HB_REGISTER_CPU(conv_backward_data_kernel, backward_data);
HB_REGISTER_CPU(conv_backward_weight_kernel, backward_weight);

}  // namespace
}  // namespace hb::cpu
