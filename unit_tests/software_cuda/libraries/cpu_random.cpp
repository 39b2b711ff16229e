#include "software_cuda/cpu_random.h"

#include <type_traits>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "backend/distributions.h"
#include "core/copy_values.h"

namespace hb {
namespace {

/// Arguments as the CPU's kernels take them.
Tensor on_host(const Tensor& t) { return t.to(Device(kCPU)); }
MaybeGenerator on_host(const MaybeGenerator& g) { return g && g->device().is_cpu() ? g : std::nullopt; }
template <class T>
requires std::is_arithmetic_v<T> T on_host(T number) { return number; }

template <auto& slot, class... Args>
void draw_on_host(const Tensor& out, Args... args) {
  const NoGradGuard no_grad;
  const Tensor host = empty_strided(out.sizes(), out.strides(), out.options().device(kCPU));
  slot(Device(kCPU))(host, on_host(args)...);
  copy_values(out, host);
}
template <auto& slot, class... Args>
void replace(const Kernel<void(const Tensor&, Args...)>&) {
  slot.set(kCUDA, draw_on_host<slot, Args...>);
}

// Kernels that the CPU has not, as its functions draw otherwise.
void dropout_mask(const Tensor& mask, ScalarType, double keep, double yes, int64_t) {
  bernoulli_kernel(mask.device())(mask, keep, yes, std::nullopt);
}
void dropout(const Tensor& out, const Tensor& mask, const Tensor& input, double keep, double yes, int64_t) {
  const NoGradGuard no_grad;
  const Tensor drawn = mask.defined() ? mask : empty_like(input);
  bernoulli_kernel(drawn.device())(drawn, keep, yes, std::nullopt);
  copy_values(out, input * drawn);
}
void rrelu_slopes(const Tensor& out, const Tensor& input, double low, double high, const MaybeGenerator& g) {
  const NoGradGuard no_grad;
  const Tensor host = on_host(input);
  Tensor slopes = empty_like(host);
  rrelu_with_noise(host, slopes, low, high, true, on_host(g));
  copy_values(out, slopes);
}

void replace_all() {
#define HB_REPLACE(slot) replace<slot>(slot)
  HB_REPLACE(uniform_kernel);
  HB_REPLACE(normal_kernel);
  HB_REPLACE(random_from_to_kernel);
  HB_REPLACE(random_kernel);
  HB_REPLACE(bernoulli_kernel);
  HB_REPLACE(bernoulli_each_kernel);
  HB_REPLACE(exponential_kernel);
  HB_REPLACE(geometric_kernel);
  HB_REPLACE(log_normal_kernel);
  HB_REPLACE(cauchy_kernel);
  HB_REPLACE(poisson_kernel);
  HB_REPLACE(binomial_kernel);
  HB_REPLACE(standard_gamma_kernel);
  HB_REPLACE(randperm_kernel);
  HB_REPLACE(multinomial_kernel);
#undef HB_REPLACE
  dropout_mask_kernel.set(kCUDA, dropout_mask);
  dropout_kernel.set(kCUDA, dropout);
  rrelu_slopes_kernel.set(kCUDA, rrelu_slopes);
}

}  // namespace
}  // namespace hb

void software_cuda::draw_on_cpu() { hb::replace_all(); }
