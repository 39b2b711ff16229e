// Samples of the gamma distribution, and the gradients of such and of samples of the Dirichlet distribution.
#include "backend/distributions.h"
#include "cuda/generator.h"
#include "cuda/kernel_file.h"
#include "cuda/philox.h"
#include "formulas/gamma_samples.h"
#include "formulas/random.h"

namespace hb::cuda {
namespace {

template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().visible_data());
}

/// Of normal numbers there are two at a time.
class Draws {
 public:
  __device__ Draws(PhiloxStart start, int64_t sequence) : bits_(start, sequence) {}
  __device__ double uniform() { return kernels::unit_double(bits_); }
  __device__ double normal() {
    if (waits_) {
      waits_ = false;
      return second_;
    }
    const uint64_t a = bits_.random64(), b = bits_.random64();
    double first;
    normal_pair({static_cast<uint32_t>(a >> 32), static_cast<uint32_t>(a), static_cast<uint32_t>(b >> 32),
                 static_cast<uint32_t>(b)},
                first, second_);
    waits_ = true;
    return first;
  }

 private:
  Bits bits_;
  double second_ = 0;
  bool waits_ = false;
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    draw_gamma(T* out, const T* shape, int64_t n, double least, PhiloxStart start) {
  HB_GRID_LOOP(i, n) {
    Draws draws(start, i);
    const T drawn = static_cast<T>(kernels::sample_gamma(draws, static_cast<double>(shape[i])));
    out[i] = drawn < static_cast<T>(least) ? static_cast<T>(least) : drawn;
  }
}
template <class T>
__global__ void __launch_bounds__(kThreads)
    gradient_of_gamma(T* out, const T* shape, const T* sample, int64_t n) {
  HB_GRID_LOOP(i, n)
  out[i] = static_cast<T>(kernels::gamma_gradient(static_cast<double>(shape[i]), static_cast<double>(sample[i])));
}
template <class T>
__global__ void __launch_bounds__(kThreads)
    gradient_of_dirichlet(T* out, const T* x, const T* alpha, const T* total, int64_t n) {
  HB_GRID_LOOP(i, n)
  out[i] = static_cast<T>(kernels::dirichlet_gradient(static_cast<double>(x[i]), static_cast<double>(alpha[i]),
                                                      static_cast<double>(total[i])));
}

/// f(float) or f(double): what these functions are refused for otherwise.
template <class F>
void for_dtype(const Tensor& out, F f) {
  if (out.scalar_type() == kFloat) {
    f(float{});
  } else {
    f(double{});
  }
}

void standard_gamma(const Tensor& out, const Tensor& shape, double least, const MaybeGenerator& generator) {
  const int64_t n = out.numel();
  const PhiloxStart start = take_numbers("_standard_gamma", generator, kPerSample);
  for_dtype(out, [&](auto zero) {
    using T = decltype(zero);
    HB_LAUNCH(draw_gamma<T>, blocks_for(n), kThreads, 0, current_stream(), data<T>(out), data<const T>(shape), n, least,
              start);
  });
}
void standard_gamma_grad(const Tensor& out, const Tensor& shape, const Tensor& sample) {
  const int64_t n = out.numel();
  for_dtype(out, [&](auto zero) {
    using T = decltype(zero);
    HB_LAUNCH(gradient_of_gamma<T>, blocks_for(n), kThreads, 0, current_stream(), data<T>(out), data<const T>(shape),
              data<const T>(sample), n);
  });
}
void dirichlet_grad(const Tensor& out, const Tensor& x, const Tensor& alpha, const Tensor& total) {
  const int64_t n = out.numel();
  for_dtype(out, [&](auto zero) {
    using T = decltype(zero);
    HB_LAUNCH(gradient_of_dirichlet<T>, blocks_for(n), kThreads, 0, current_stream(), data<T>(out), data<const T>(x),
              data<const T>(alpha), data<const T>(total), n);
  });
}

HB_REGISTER_CUDA(standard_gamma_kernel, standard_gamma);
HB_REGISTER_CUDA(standard_gamma_grad_kernel, standard_gamma_grad);
HB_REGISTER_CUDA(dirichlet_grad_kernel, dirichlet_grad);

}  // namespace
}  // namespace hb::cuda
