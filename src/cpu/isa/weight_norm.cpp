#include "backend/weight_norm.h"

#include <algorithm>

#include "cpu/isa/row_sums.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// grad_v = (g / |v|) (grad - v (grad . v) / |v|^2), whose second part is left out where v is 0; grad_g = grad . v /
/// |v|.
template <class C>
void row_gradients(C* grad_v, C& grad_g, const C* grad, const C* v, C g, C norm, int64_t m) {
  grad_g = dot_of_run(grad, v, m) / norm;
  const C scale = g / norm, along = norm == 0 ? 0 : -grad_g * scale / norm;
  HB_INDEPENDENT
  for (int64_t k = 0; k < m; ++k) grad_v[k] = grad[k] * scale + v[k] * along;
}

template <class C>
void gradients(const Tensor& grad_v, const Tensor& grad_g, const Tensor& grad, const Tensor& v, const Tensor& g,
               const Tensor& norms) {
  const auto data = [](const Tensor& t) { return static_cast<C*>(t.impl().raw_data()); };
  C *const to_v = data(grad_v), *const to_g = data(grad_g);
  const C *const from = data(grad), *const x = data(v), *const length = data(g), *const norm = data(norms);
  const int64_t n = v.size(0), m = v.numel() / std::max<int64_t>(n, 1);
  parallel_for(0, n, std::max<int64_t>(1, kGrain / (2 * m + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      row_gradients(to_v + i * m, to_g[i], from + i * m, x + i * m, length[i], norm[i], m);
  });
}

void weight_norm_backward(const Tensor& grad_v, const Tensor& grad_g, const Tensor& grad, const Tensor& v,
                          const Tensor& g, const Tensor& norms) {
  if (v.scalar_type() == kFloat) return gradients<float>(grad_v, grad_g, grad, v, g, norms);
  HB_CHECK(v.scalar_type() == kDouble, "[weight_norm_backward] expected f32 or f64, got ", v.scalar_type());
  gradients<double>(grad_v, grad_g, grad, v, g, norms);
}
HB_REGISTER_ISA(weight_norm_backward_kernel, weight_norm_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
