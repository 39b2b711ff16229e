// Samples of the gamma distribution, and the gradients of such and of samples of the Dirichlet distribution.
#include <algorithm>
#include <mutex>

#include "backend/distributions.h"
#include "formulas/gamma_samples.h"
#include "formulas/random.h"

namespace hb::cpu {
namespace {

struct Draws {
  CPUGeneratorImpl& rng;
  double uniform() { return kernels::unit_double(rng); }
  double normal() { return kernels::normal(rng, 0, 1); }
};

template <class F>
void for_floating(const char* name, const Tensor& out, F f) {
  if (out.scalar_type() == kFloat) return f(float{});
  if (out.scalar_type() == kDouble) return f(double{});
  HB_NOT_SUPPORTED("[", name, "] not implemented for '", toString(out.scalar_type()), "'");
}
template <class T>
T* values(const Tensor& t) {
  return static_cast<T*>(t.impl().visible_data());
}

void standard_gamma(const Tensor& out, const Tensor& shape, double least, const MaybeGenerator& generator) {
  auto* rng = get_generator_or_default<CPUGeneratorImpl>(generator, default_generator());
  const std::lock_guard<std::mutex> lock(rng->mutex_);
  Draws draws{*rng};
  for_floating("_standard_gamma", out, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.numel(); ++i)
      values<T>(out)[i] =
          std::max(static_cast<T>(least), static_cast<T>(kernels::sample_gamma(draws, values<T>(shape)[i])));
  });
}
void standard_gamma_grad(const Tensor& out, const Tensor& shape, const Tensor& sample) {
  for_floating("_standard_gamma_grad", out, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.numel(); ++i)
      values<T>(out)[i] = static_cast<T>(kernels::gamma_gradient(values<T>(shape)[i], values<T>(sample)[i]));
  });
}
void dirichlet_grad(const Tensor& out, const Tensor& x, const Tensor& alpha, const Tensor& total) {
  for_floating("_dirichlet_grad", out, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.numel(); ++i)
      values<T>(out)[i] =
          static_cast<T>(kernels::dirichlet_gradient(values<T>(x)[i], values<T>(alpha)[i], values<T>(total)[i]));
  });
}

HB_REGISTER_CPU(standard_gamma_kernel, standard_gamma);
HB_REGISTER_CPU(standard_gamma_grad_kernel, standard_gamma_grad);
HB_REGISTER_CPU(dirichlet_grad_kernel, dirichlet_grad);

}  // namespace
}  // namespace hb::cpu
