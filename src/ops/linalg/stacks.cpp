#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "backend/decompositions.h"
#include "core/geometry.h"
#include "ops/linalg/decompositions.h"

namespace hb {

void check_matrices(const char* name, const Tensor& a, bool square, Refused refused) {
  HB_CHECK(a.dim() >= 2, name, ": The input tensor A must have at least 2 dimensions.");
  const ScalarType real = to_real_type(a.scalar_type());
  const bool for_kernel = refused == Refused::by_kernel || (refused == Refused::halves_by_kernel && is_half_type(real));
  HB_CHECK_SUPPORTED(!for_kernel || real == kFloat || real == kDouble, name, ": not implemented for '", a.scalar_type(),
                     "': expected float, double or complex numbers");
  HB_CHECK(a.is_floating_point() || a.is_complex(), name,
           ": Expected a floating point or complex tensor as input. Got ", a.scalar_type());
  HB_CHECK(!is_half_type(real), name, ": Low precision dtypes not supported. Got ", a.scalar_type());
  HB_CHECK(!square || a.size(-1) == a.size(-2), name, ": A must be batches of square matrices, but they are ",
           a.size(-2), " by ", a.size(-1), " matrices");
}

void check_same_matrices(const char* name, const Tensor& a, const Tensor& b) {
  HB_CHECK(a.scalar_type() == b.scalar_type(), name, ": Expected A and B to have the same dtype, but found A of type ",
           a.scalar_type(), " and B of type ", b.scalar_type(), " instead");
}

namespace {
int64_t batch_count(const Tensor& a, int64_t last) {
  int64_t n = 1;
  for (int64_t d = 0; d + last < a.dim(); ++d) n *= a.size(d);
  return n;
}
}  // namespace

Tensor as_stack(const Tensor& a) { return a.detach().reshape({batch_count(a, 2), a.size(-2), a.size(-1)}); }
Tensor as_rows(const Tensor& a) { return a.detach().reshape({batch_count(a, 1), a.size(-1)}); }

std::vector<int64_t> batch_sizes(const Tensor& like, std::initializer_list<int64_t> last) {
  std::vector<int64_t> sizes(like.sizes().begin(), like.sizes().end() - 2);
  sizes.insert(sizes.end(), last);
  return sizes;
}

Tensor by_columns(const Tensor& like, int64_t m, int64_t n, ScalarType dtype) {
  const std::vector<int64_t> sizes = batch_sizes(like, {m, n});
  std::vector<int64_t> strides(sizes.size());
  strides.end()[-2] = 1, strides.end()[-1] = std::max<int64_t>(m, 1);
  int64_t step = std::max<int64_t>(m, 1) * std::max<int64_t>(n, 1);
  for (size_t d = sizes.size() - 2; d-- > 0; step *= std::max<int64_t>(sizes[d], 1)) strides[d] = step;
  return empty_strided(sizes, strides, like.options().dtype(dtype));
}
Tensor by_columns(const Tensor& like, int64_t m, int64_t n) { return by_columns(like, m, n, like.scalar_type()); }

Tensor with_batch_of(const Tensor& a, const Tensor& b) {
  if (b.dim() <= 2) return a;
  std::vector<int64_t> sizes = broadcast_shapes(a.sizes().slice(0, a.dim() - 2), b.sizes().slice(0, b.dim() - 2));
  sizes.insert(sizes.end(), {a.size(-2), a.size(-1)});
  return a.sizes().equals(sizes) ? a : a.expand(sizes);
}

bool is_vectors(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes().equals(a.sizes().slice(0, a.dim() - 1)));
}

Tensor no_info(const Tensor& like) { return zeros(batch_sizes(like, {}), like.options().dtype(kInt)); }

void check_info(const char* name, const Tensor& info, const char* text) {
  if (info.numel() > 0) check_info_kernel(kCPU)(info.cpu().contiguous(), name, text);
}

void check_finite(const char* name, const Tensor& a, const char* text) {
  NoGradGuard no_grad;
  check_finite_kernel(kCPU)(isfinite(a.detach()).all().cpu(), name, text);
}

}  // namespace hb
