// Fourier transforms by cuFFT, which is opened when one is first asked for.
#include "backend/fft.h"

#include <array>
#include <map>

#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/cufft.h"
#else
#include <cufft.h>
#endif

#include "cuda/kernel_file.h"
#include "cuda/library.h"

namespace hb::cuda {
namespace {

const Library& cufft() {
  static const auto* const library = new Library("cuFFT", {"libcufft.so.12", "libcufft.so.11"}, "cufft");
  return *library;
}

#define HB_CUFFT(function, ...)                                                                                \
  do {                                                                                                         \
    const cufftResult status_ = HB_CUDA_SYMBOL(cufft(), function)(__VA_ARGS__);                                \
    HB_CHECK(status_ == CUFFT_SUCCESS, "[", current_function(), "] " #function " failed with cuFFT's status ", \
             static_cast<int>(status_));                                                                       \
  } while (0)

struct Plan {
  cufftHandle handle = 0;
  size_t workspace = 0;
};

/// `batch` lines of n elements that lie `stride` apart; lines begin `distance` (in) and `out_distance` apart.
struct Layout {
  cufftType type;
  int64_t n, batch, stride, distance, out_distance;
};

const Plan& plan_for(const Layout& l) {
  using Key = std::array<int64_t, 7>;
  thread_local auto* const plans = new std::map<Key, Plan>;  // cuFFT may end before the thread
  constexpr size_t kMost = 256;
  if (plans->size() > kMost) {
    for (const auto& [key, plan] : *plans) HB_CUDA_SYMBOL(cufft(), cufftDestroy)(plan.handle);
    plans->clear();
  }
  Plan& plan = (*plans)[{current_device(), l.type, l.n, l.batch, l.stride, l.distance, l.out_distance}];
  if (plan.handle) return plan;
  const Unrecorded guard;
  HB_CUFFT(cufftCreate, &plan.handle);
  HB_CUFFT(cufftSetAutoAllocation, plan.handle, 0);
  long long n[1] = {l.n}, embedded[1] = {l.n};
  HB_CUFFT(cufftMakePlanMany64, plan.handle, 1, n, embedded, l.stride, l.distance, embedded, l.stride, l.out_distance,
           l.type, l.batch, &plan.workspace);
  return plan;
}

/// Makes a plan ready for the current stream, with memory to work in, and executes it.
template <class F>
void execute(const Layout& layout, const F& run) {
  const Plan& plan = plan_for(layout);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  HB_CUFFT(cufftSetWorkArea, plan.handle, workspace.get());
  HB_CUFFT(cufftSetStream, plan.handle, current_stream());
  run(plan.handle);
}

template <class T>
__global__ void multiply(T* x, int64_t n, T by) {
  HB_GRID_LOOP(i, n) x[i] *= by;
}
template <class T>
void scale_by(T* x, int64_t n, double scale) {
  if (scale != 1) HB_LAUNCH(multiply<T>, blocks_for(n), kThreads, 0, current_stream(), x, n, static_cast<T>(scale));
}

// cuFFT may write over a spectrum that becomes real, and reads imaginary parts that such a spectrum has not.
template <class T>
__global__ void copy_hermitian(Complex<T>* to, const Complex<T>* from, int64_t total, int64_t kept, bool even) {
  HB_GRID_LOOP(i, total) {
    const int64_t k = i % kept;
    const bool real = k == 0 || (even && k == kept - 1);
    to[i] = Complex<T>(from[i].real(), real ? T(0) : from[i].imag());
  }
}

template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().raw_data());
}

template <class T, class C>
void c2c(const Tensor& tensor, const Lines& l, bool forward, double scale) {
  constexpr bool wide = std::is_same_v<T, double>;
  auto* const x = data<C>(tensor);
  const int direction = forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  const auto run = [&](cufftHandle plan, C* at) {
    if constexpr (wide)
      HB_CUFFT(cufftExecZ2Z, plan, at, at, direction);
    else
      HB_CUFFT(cufftExecC2C, plan, at, at, direction);
  };
  const cufftType type = wide ? CUFFT_Z2Z : CUFFT_C2C;
  if (l.inner == 1) {
    execute({type, l.n, l.outer, 1, l.n, l.n}, [&](cufftHandle plan) { run(plan, x); });
  } else {
    execute({type, l.n, l.inner, l.inner, 1, 1}, [&](cufftHandle plan) {
      for (int64_t o = 0; o < l.outer; ++o) run(plan, x + o * l.n * l.inner);
    });
  }
  scale_by(reinterpret_cast<T*>(x), 2 * l.outer * l.n * l.inner, scale);
}

template <class T, class C>
void r2c(const Tensor& out, const Tensor& in, double scale) {
  const int64_t n = in.size(-1), kept = n / 2 + 1, lines = in.numel() / n;
  constexpr bool wide = std::is_same_v<T, double>;
  // cuFFT takes real numbers only where a complex one could begin.
  T* from = data<T>(in);
  const bool aligned = reinterpret_cast<uintptr_t>(from) % sizeof(C) == 0;
  const Scratch<T> copy(aligned ? 0 : n * lines);
  if (!aligned) {
    const auto bytes = static_cast<size_t>(n * lines) * sizeof(T);
    check(cudaMemcpyAsync(copy.get(), from, bytes, cudaMemcpyDeviceToDevice, current_stream()), "fft_r2c");
    from = copy.get();
  }
  execute({wide ? CUFFT_D2Z : CUFFT_R2C, n, lines, 1, n, kept}, [&](cufftHandle plan) {
    if constexpr (wide)
      HB_CUFFT(cufftExecD2Z, plan, from, data<C>(out));
    else
      HB_CUFFT(cufftExecR2C, plan, from, data<C>(out));
  });
  scale_by(data<T>(out), 2 * lines * kept, scale);
}
template <class T, class C>
void c2r(const Tensor& out, const Tensor& in, double scale) {
  const int64_t n = out.size(-1), kept = n / 2 + 1, lines = out.numel() / n;
  constexpr bool wide = std::is_same_v<T, double>;
  const Scratch<Complex<T>> copy(lines * kept);
  HB_LAUNCH(copy_hermitian<T>, blocks_for(lines * kept), kThreads, 0, current_stream(), copy.get(),
            data<const Complex<T>>(in), lines * kept, kept, n % 2 == 0);
  auto* const from = reinterpret_cast<C*>(copy.get());
  execute({wide ? CUFFT_Z2D : CUFFT_C2R, n, lines, 1, kept, n}, [&](cufftHandle plan) {
    if constexpr (wide)
      HB_CUFFT(cufftExecZ2D, plan, from, data<T>(out));
    else
      HB_CUFFT(cufftExecC2R, plan, from, data<T>(out));
  });
  scale_by(data<T>(out), lines * n, scale);
}

void fft_c2c(const Tensor& x, Lines l, bool forward, double scale) {
  if (x.numel() == 0) return;
  x.scalar_type() == kComplexDouble ? c2c<double, cufftDoubleComplex>(x, l, forward, scale)
                                    : c2c<float, cufftComplex>(x, l, forward, scale);
}
void fft_r2c(const Tensor& out, const Tensor& in, double scale) {
  if (in.numel() == 0) return;
  in.scalar_type() == kDouble ? r2c<double, cufftDoubleComplex>(out, in, scale)
                              : r2c<float, cufftComplex>(out, in, scale);
}
void fft_c2r(const Tensor& out, const Tensor& in, double scale) {
  if (out.numel() == 0) return;
  out.scalar_type() == kDouble ? c2r<double, cufftDoubleComplex>(out, in, scale)
                               : c2r<float, cufftComplex>(out, in, scale);
}
HB_REGISTER_CUDA(fft_c2c_kernel, fft_c2c);
HB_REGISTER_CUDA(fft_r2c_kernel, fft_r2c);
HB_REGISTER_CUDA(fft_c2r_kernel, fft_c2r);

}  // namespace
}  // namespace hb::cuda
