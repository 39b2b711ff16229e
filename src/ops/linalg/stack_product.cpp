#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/physical.h"
#include "ops/linalg/complex_product.h"
#include "ops/linalg/matrix_product.h"

namespace hb::ops {
namespace {

// Strides of a (…, rows, cols) over `batch`; 0 where it is broadcast.
DimVector batch_strides(const Tensor& t, size_t batch_dims) {
  const auto &sizes = t.impl().sizes(), &strides = t.impl().physical_strides();
  DimVector out(batch_dims, 0);
  const size_t own = sizes.size() - 2;
  for (size_t d = 0; d < own; ++d) out[batch_dims - own + d] = sizes[d] == 1 ? 0 : strides[d];
  return out;
}

// Merges neighbouring batch dimensions that both operands walk evenly; c is contiguous.
void merge(DimVector& sizes, DimVector& a, DimVector& b) {
  size_t kept = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (kept && a[kept - 1] == a[d] * sizes[d] && b[kept - 1] == b[d] * sizes[d]) {
      sizes[kept - 1] *= sizes[d], a[kept - 1] = a[d], b[kept - 1] = b[d];
    } else {
      sizes[kept] = sizes[d], a[kept] = a[d], b[kept] = b[d];
      ++kept;
    }
  }
  sizes.resize(kept), a.resize(kept), b.resize(kept);
}

GemmMatrix matrix_of(const Tensor& t, const DimVector& batch) {
  const auto& strides = t.impl().physical_strides();
  const size_t n = strides.size();
  GemmMatrix x;
  x.data = t.impl().raw_data();
  x.row = strides[n - 2], x.col = strides[n - 1];
  for (size_t d = 0; d < batch.size(); ++d) x.batch[2 - batch.size() + d] = batch[d];
  return x;
}

}  // namespace

void stack_product_into(const Tensor& out, const Tensor& left, const Tensor& right, double alpha, double beta) {
  const Tensor a = physical(left), b = physical(right);
  const auto& sizes = out.impl().sizes();
  DimVector batch(sizes.begin(), sizes.end() - 2);
  DimVector batch_a = batch_strides(a, batch.size()), batch_b = batch_strides(b, batch.size());
  merge(batch, batch_a, batch_b);
  if (batch.size() > 2) {
    // Too irregular for the kernel: dense copies walk evenly.
    NoGradGuard guard;
    const auto dense = [&](const Tensor& t) {
      DimVector full(sizes.begin(), sizes.end() - 2);
      full.push_back(t.size(-2)), full.push_back(t.size(-1));
      return t.detach().expand(full).contiguous();
    };
    return stack_product_into(out, dense(a), dense(b), alpha, beta);
  }
  Gemm g;
  g.dtype = out.scalar_type();
  g.m = a.size(-2), g.k = a.size(-1), g.n = b.size(-1);
  for (size_t d = 0; d < batch.size(); ++d) g.batch[2 - batch.size() + d] = batch[d];
  if (out.numel() == 0) return;
  g.a = matrix_of(a, batch_a), g.b = matrix_of(b, batch_b);
  g.c.data = out.impl().visible_data(), g.c.row = g.n, g.c.col = 1;
  g.c.batch[1] = g.m * g.n, g.c.batch[0] = g.m * g.n * g.batch[1];
  g.alpha = alpha, g.beta = beta;
  gemm_kernel(out.device())(g);
}

Tensor stack_product(const char* name, const Tensor& a, const Tensor& b) {
  check_same_dtype(name, a, b);
  HB_CHECK(a.size(-1) == b.size(-2), "[", name, "] expected the inner dimensions to agree, got ", a.sizes(), " and ",
           b.sizes());
  if (HB_UNLIKELY(a.is_complex())) return complex_product(a, b);
  const auto &sa = a.impl().sizes(), &sb = b.impl().sizes();
  const size_t n = std::max(sa.size(), sb.size());
  DimVector sizes(n, 1);
  for (size_t d = 0; d + 2 < n; ++d) {
    const int64_t x = d + sa.size() >= n ? sa[d + sa.size() - n] : 1,
                  y = d + sb.size() >= n ? sb[d + sb.size() - n] : 1;
    HB_CHECK(x == y || x == 1 || y == 1, "[", name, "] The size of tensor a (", x,
             ") must match the size of tensor b (", y, ") at non-singleton dimension ", d, ": batch dimensions of ",
             a.sizes(), " and ", b.sizes());
    sizes[d] = x == 1 ? y : x;
  }
  sizes[n - 2] = a.size(-2), sizes[n - 1] = b.size(-1);
  Tensor out = empty(sizes, a.options());
  stack_product_into(out, a, b, 1, 0);
  if (needs_grad(a, b)) {
    record("BmmBackward0", out, {&a, &b},
           {b.requires_grad() ? SavedTensor::input(a) : SavedTensor(),
            a.requires_grad() ? SavedTensor::input(b) : SavedTensor()},
           [](Backward& c, auto& s) -> variable_list {
             return {c.needs(0) ? stack_product("bmm", c.grad(), s[1].transpose(-2, -1)) : Tensor(),
                     c.needs(1) ? stack_product("bmm", s[0].transpose(-2, -1), c.grad()) : Tensor()};
           });
  }
  return out;
}

}  // namespace hb::ops
