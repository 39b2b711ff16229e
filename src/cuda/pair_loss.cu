#include "backend/loss.h"

#include "cuda/kernel_file.h"
#include "cuda/report.h"

namespace hb::cuda {
namespace {

template <PairLoss kind, class C>
__device__ C value(C a, C b, C param) {
  const C d = a - b, size = d < 0 ? -d : d;
  if constexpr (kind == PairLoss::mse) return d * d;
  if constexpr (kind == PairLoss::l1) return size;
  if constexpr (kind == PairLoss::smooth_l1) return size < param ? C(0.5) * d * d / param : size - C(0.5) * param;
  if constexpr (kind == PairLoss::huber) return size <= param ? C(0.5) * d * d : param * (size - C(0.5) * param);
  if constexpr (kind == PairLoss::bce) {
    // The logarithms stop at -100, so that a certain and wrong answer costs a finite amount.
    const C no = std::log1p(-a), yes = std::log(a);
    return (b - 1) * (no < C(-100) ? C(-100) : no) - b * (yes < C(-100) ? C(-100) : yes);
  }
  if constexpr (kind == PairLoss::bce_logits) {
    const C m = a < 0 ? -a : C(0), far = a < 0 ? a : -a;
    return a * (1 - b) + m + std::log1p(std::exp(far));
  }
}

template <PairLoss kind, class C>
__device__ C slope(C a, C b, C param) {
  const C d = a - b, sign = d > 0 ? C(1) : d < 0 ? C(-1) : C(0);
  if constexpr (kind == PairLoss::mse) return 2 * d;
  if constexpr (kind == PairLoss::l1) return sign;
  if constexpr (kind == PairLoss::smooth_l1) return d <= -param ? C(-1) : d >= param ? C(1) : d / param;
  if constexpr (kind == PairLoss::huber) return d < -param ? -param : d > param ? param : d;
  if constexpr (kind == PairLoss::bce) {
    const C spread = (1 - a) * a;
    return d / (spread < C(1e-12) ? C(1e-12) : spread);
  }
  if constexpr (kind == PairLoss::bce_logits) return 1 / (1 + std::exp(-a)) - b;
}

/// The input of a binary cross entropy is a probability: the kernel that reads it tells of any other number.
template <PairLoss kind>
Reporter reporter_for() {
  if constexpr (kind != PairLoss::bce) return {};
  return reporter("binary_cross_entropy", "all elements of input should be between 0 and 1");
}
template <PairLoss kind, class C>
__device__ C checked_value(C a, C b, C param, const Reporter& report) {
  if constexpr (kind == PairLoss::bce)
    if (!(a >= 0 && a <= 1)) report.out_of_range(0, 1);
  return value<kind, C>(a, b, param);
}

template <PairLoss kind, class T>
__global__ void values(T* out, const T* a, const T* b, compute_t<T> param, int64_t n, Reporter report) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, n) out[i] = T(checked_value<kind, C>(widen<C>(a[i]), widen<C>(b[i]), param, report));
}

constexpr int64_t kChunk = 4096;  // values that a block adds

template <PairLoss kind, class T>
__global__ void sums_of_chunks(double* sums, const T* a, const T* b, compute_t<T> param, int64_t n, Reporter report) {
  using C = compute_t<T>;
  const int64_t from = blockIdx.x * kChunk, to = from + kChunk < n ? from + kChunk : n;
  C sum = 0;
  for (int64_t i = from + threadIdx.x; i < to; i += blockDim.x)
    sum += checked_value<kind, C>(widen<C>(a[i]), widen<C>(b[i]), param, report);
  sum = team_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = static_cast<double>(sum);
}
template <class T>
__global__ void sum_of_sums(T* out, const double* sums, int64_t n, double scale) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += sums[i];
  sum = team_sum(sum);
  if (threadIdx.x == 0) *out = T(static_cast<compute_t<T>>(sum * scale));
}

template <PairLoss kind, class T>
__global__ void slopes(T* out, const T* grad, const T* a, const T* b, compute_t<T> param, compute_t<T> scale,
                       bool one_grad, int64_t n) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, n) {
    const C g = one_grad ? scale * widen<C>(grad[0]) : widen<C>(grad[i]);
    out[i] = T(g * slope<kind, C>(widen<C>(a[i]), widen<C>(b[i]), param));
  }
}

template <PairLoss kind, class T>
void forward(double param, int64_t n, const double* scale, T* out, const T* a, const T* b) {
  const auto p = static_cast<compute_t<T>>(param);
  const Reporter report = reporter_for<kind>();
  if (!scale) {
    if (n > 0) HB_LAUNCH((values<kind, T>), blocks_for(n), kThreads, 0, current_stream(), out, a, b, p, n, report);
    return;
  }
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  const Scratch<double> sums(chunks);
  if (chunks > 0)
    HB_LAUNCH((sums_of_chunks<kind, T>), static_cast<unsigned>(chunks), kThreads, 0, current_stream(), sums.get(), a, b,
              p, n, report);
  HB_LAUNCH(sum_of_sums<T>, 1, kThreads, 0, current_stream(), out, sums.get(), chunks, *scale);
}
template <PairLoss kind, class T>
void backward(double param, int64_t n, const double* scale, T* out, const T* grad, const T* a, const T* b) {
  using C = compute_t<T>;
  if (n > 0)
    HB_LAUNCH((slopes<kind, T>), blocks_for(n), kThreads, 0, current_stream(), out, grad, a, b, static_cast<C>(param),
              static_cast<C>(scale ? *scale : 1.0), scale != nullptr, n);
}

#define HB_KIND(kind, fn, ...) \
  case PairLoss::kind:         \
    return fn<PairLoss::kind, T>(__VA_ARGS__)
#define HB_KIND_SWITCH(fn, ...)           \
  switch (kind) {                         \
    HB_KIND(mse, fn, __VA_ARGS__);        \
    HB_KIND(l1, fn, __VA_ARGS__);         \
    HB_KIND(smooth_l1, fn, __VA_ARGS__);  \
    HB_KIND(huber, fn, __VA_ARGS__);      \
    HB_KIND(bce, fn, __VA_ARGS__);        \
    HB_KIND(bce_logits, fn, __VA_ARGS__); \
  }

void pair_loss(ScalarType dtype, PairLoss kind, double param, int64_t n, const double* scale, void* out, const void* a,
               const void* b) {
  HB_FLOATING_SWITCH("pair_loss", dtype, [&](auto type) {
    using T = decltype(type);
    HB_KIND_SWITCH(forward, param, n, scale, static_cast<T*>(out), static_cast<const T*>(a), static_cast<const T*>(b))
  });
}
void pair_loss_backward(ScalarType dtype, PairLoss kind, double param, int64_t n, const double* scale, void* grad_a,
                        const void* grad, const void* a, const void* b) {
  HB_FLOATING_SWITCH("pair_loss_backward", dtype, [&](auto type) {
    using T = decltype(type);
    HB_KIND_SWITCH(backward, param, n, scale, static_cast<T*>(grad_a), static_cast<const T*>(grad),
                   static_cast<const T*>(a), static_cast<const T*>(b))
  });
}
HB_REGISTER_CUDA(pair_loss_kernel, pair_loss);
HB_REGISTER_CUDA(pair_loss_backward_kernel, pair_loss_backward);

}  // namespace
}  // namespace hb::cuda
