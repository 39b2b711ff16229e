#include "ops/nn/patch_conv.h"

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "ops/common/layout.h"
#include "ops/linalg/matrix_product.h"

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

/// Memory, channels-last or contiguous, as rows of `cols`.
Folded rows_of(const Tensor& t, int64_t cols) { return {t, t.impl().raw_data(), t.numel() / cols, cols, cols, 1}; }

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
  const int64_t size = patch_size(x, c);
  const Folded patches = rows_of(patches_of(x, c), size), weight = rows_of(w, size);
  Gemm g;  // not product_into(), for which `out` would settle
  g.dtype = x.scalar_type();
  g.m = patches.rows, g.n = weight.rows, g.k = size;
  g.a = patches.matrix(), g.b = weight.matrix(true), g.c = rows_of(out, g.n).matrix();
  g.bias = bias.defined() ? bias.impl().raw_data() : nullptr;
  gemm_kernel(x.device())(g);
}

Tensor patch_input_gradient(const Tensor& grad, const Tensor& x, const Tensor& w, const ConvCall& c) {
  NoGradGuard no_history;
  Tensor out = empty(x.sizes(), x.options());
  const Tensor places = by_patches(out, c);
  const Tensor product = empty({places.numel() / patch_size(x, c), patch_size(x, c)}, x.options());
  product_into(product, rows_of(grad, w.size(0)), false, rows_of(w, patch_size(x, c)), false);
  if (product.numel() != out.numel()) out.zero_();  // the border that no patch covers
  places.copy_(product.view(places.sizes()));
  return out;
}

void patch_weight_gradient(const Tensor& dw, Tensor* db, const Tensor& grad, const Tensor& x, const ConvCall& c) {
  const Folded patches = rows_of(patches_of(x, c), patch_size(x, c)), grads = rows_of(grad, grad.size(1));
  if (db)
    *db = product_and_row_sums(dw, grads, patches, true);
  else
    product_into(dw, grads, true, patches, false);
}

}  // namespace hb::ops
