#include "ops/nn/patch_conv.h"

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "backend/gemm.h"
#include "ops/common/layout.h"

namespace hb::ops {
namespace {

/// The pixels of contiguous x that patches cover, by (image, patch's place…, channel, place in the patch…).
Tensor by_patches(const Tensor& x, const ConvCall& c) {
  const int n = c.p.dims;
  DimVector sizes(2 + 2 * n), strides(2 + 2 * n);
  sizes[0] = x.size(0), sizes[1 + n] = x.size(1);
  strides[0] = x.stride(0), strides[1 + n] = x.stride(1);
  for (int d = 0; d < n; ++d) {
    const int64_t side = c.p.stride[d];
    sizes[1 + d] = x.size(2 + d) / side, sizes[2 + n + d] = side;
    strides[1 + d] = x.stride(2 + d) * side, strides[2 + n + d] = x.stride(2 + d);
  }
  return x.as_strided(sizes, strides, x.storage_offset());
}

/// A row for each patch.
Tensor patches_of(const Tensor& x, const ConvCall& c) {
  NoGradGuard no_history;
  const Tensor places = by_patches(to_contiguous(x).detach(), c);
  Tensor out = empty(places.sizes(), x.options());
  return out.copy_(places);
}

int64_t patch_size(const Tensor& x, const ConvCall& c) {
  int64_t size = x.size(1);
  for (int d = 0; d < c.p.dims; ++d) size *= c.p.stride[d];
  return size;
}

void* memory(const Tensor& t) { return t.defined() ? t.impl().raw_data() : nullptr; }

}  // namespace

bool tiles_by_patches(const Tensor& x, const Tensor& w, const ConvCall& c) {
  constexpr int64_t kLeastRun = 4, kLeastPatch = 32;  // elements that lie side by side, and the length of a sum
  const int n = c.p.dims;
  if (c.transposed || c.p.groups != 1 || !x.is_cpu() || !x.impl().physically_contiguous() ||
      !w.impl().physically_contiguous() || is_visibly_channels_last(w))
    return false;
  for (int d = 0; d < n; ++d)
    if (w.size(2 + d) != c.p.stride[d] || c.p.padding[d] != 0 || c.p.dilation[d] != 1) return false;
  return c.p.stride[n - 1] >= kLeastRun && patch_size(x, c) >= kLeastPatch;
}

bool patches_pay_for_weights(const Tensor& x, const ConvCall& c) {
  return is_half_type(x.scalar_type()) || patch_size(x, c) >= 64;
}

void patch_forward(const Tensor& out, const Tensor& x, const Tensor& w, const Tensor& bias, const ConvCall& c) {
  const Tensor patches = patches_of(x, c);
  Gemm g;
  g.dtype = x.scalar_type();
  g.k = patch_size(x, c), g.m = patches.numel() / g.k, g.n = w.size(0);
  g.a.data = memory(patches), g.a.row = g.k, g.a.col = 1;
  g.b.data = memory(w), g.b.row = 1, g.b.col = g.k;
  g.c.data = memory(out), g.c.row = g.n, g.c.col = 1;
  g.bias = memory(bias);
  gemm_kernel(x.device())(g);
}

Tensor patch_input_gradient(const Tensor& grad, const Tensor& x, const Tensor& w, const ConvCall& c) {
  NoGradGuard no_history;
  Tensor out = empty(x.sizes(), x.options());
  const Tensor places = by_patches(out, c);
  const Tensor product = empty(places.sizes(), x.options());
  Gemm g;
  g.dtype = x.scalar_type();
  g.n = patch_size(x, c), g.m = product.numel() / g.n, g.k = w.size(0);
  g.a.data = memory(grad), g.a.row = g.k, g.a.col = 1;
  g.b.data = memory(w), g.b.row = g.n, g.b.col = 1;
  g.c.data = memory(product), g.c.row = g.n, g.c.col = 1;
  gemm_kernel(x.device())(g);
  if (product.numel() != out.numel()) out.zero_();  // the border that no patch covers
  places.copy_(product);
  return out;
}

void patch_weight_gradient(const Tensor& dw, const Tensor& db, const Tensor& grad, const Tensor& x, const ConvCall& c) {
  const Tensor patches = patches_of(x, c);
  Gemm g;
  g.dtype = x.scalar_type();
  g.n = patch_size(x, c), g.k = patches.numel() / g.n, g.m = grad.size(1);
  g.a.data = memory(grad), g.a.row = 1, g.a.col = g.m;
  g.b.data = memory(patches), g.b.row = g.n, g.b.col = 1;
  g.c.data = memory(dw), g.c.row = g.n, g.c.col = 1;
  gemm_kernel(x.device())(g);
  if (db.defined()) column_sum_kernel(x.device())(g.dtype, memory(db), memory(grad), g.k, g.m, g.m);
}

}  // namespace hb::ops
