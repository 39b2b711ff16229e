// Distributions. Which thread draws which element, and how many numbers a call takes from the generator, is as in
// PyTorch, so that a seed gives its numbers.
#include <mutex>

#include "backend/distributions.h"
#include "core/loop.h"
#include "cuda/convert.h"
#include "cuda/generator.h"
#include "cuda/graph.h"
#include "cuda/philox.h"
#include "cuda/register.h"
#include "cuda/report.h"
#include "cuda/walk.h"

namespace hb::cuda {
namespace {

constexpr int kDraws = 256;  // threads a block

/// Four values of a thread for four elements (two for double and 64 bits).
template <class Distribution>
__global__ void __launch_bounds__(kDraws)
    draw_kernel(HB_ARGUMENT(Walk) walk, PhiloxStart start, HB_ARGUMENT(Distribution) d) {
  constexpr int unroll = Distribution::kValues;
  const int64_t thread = grid_thread(), threads = grid_threads();
  Philox philox = philox_at(start, static_cast<uint64_t>(thread));
  for (int64_t first = thread; first < walk.numel; first += threads * unroll) {
    typename Distribution::Value value[unroll];
    d.draw(philox.next(), value);
    for (int k = 0; k < unroll; ++k) {
      const int64_t i = first + threads * k;
      if (i >= walk.numel) break;
      int64_t offset[2];
      walk.offsets<2>(static_cast<uint32_t>(i), offset);
      d.put(walk.data[0] + offset[0], walk.dtype[0], value[k], walk.data[1] + offset[1], walk.dtype[1]);
    }
  }
}

struct FourFloats {
  using Value = float;
  static constexpr int kValues = 4;
  __device__ static void draw(const Draw4& d, float* v) {
    v[0] = unit_float(d.x), v[1] = unit_float(d.y), v[2] = unit_float(d.z), v[3] = unit_float(d.w);
  }
};
struct TwoDoubles {
  using Value = double;
  static constexpr int kValues = 2;
  __device__ static void draw(const Draw4& d, double* v) { v[0] = unit_double(d.x, d.y), v[1] = unit_double(d.z, d.w); }
};
template <class T>
using Uniforms = std::conditional_t<std::is_same_v<T, double>, TwoDoubles, FourFloats>;

template <class T>
struct NormalDraws {
  using Value = T;
  static constexpr int kValues = std::is_same_v<T, double> ? 2 : 4;
  __device__ static void draw(const Draw4& d, T* v) {
    if constexpr (std::is_same_v<T, double>)
      normal_pair(d, v[0], v[1]);
    else
      normal_pair(d.x, d.y, v[0], v[1]), normal_pair(d.z, d.w, v[2], v[3]);
  }
};

/// Turns (0, 1] or normal values into those of a distribution: `f(value)`.
enum class Kind { uniform, normal, bernoulli, exponential, geometric, log_normal, cauchy };
template <class T, Kind kind, class Draws>
struct Transformed : Draws {
  T a, b;
  __device__ T transform(T v) const {
    if constexpr (kind == Kind::uniform) return (v == T(1) ? T(0) : v) * (b - a) + a;
    if constexpr (kind == Kind::normal) return v * b + a;
    if constexpr (kind == Kind::bernoulli) return v < a ? b : T(0);
    if constexpr (kind == Kind::exponential) {
      constexpr T half_step = std::is_same_v<T, double> ? T(0x1p-53) : T(0x1p-24);
      return T(-1) / a * (v >= T(1) - half_step ? -half_step : math_log(v));
    }
    if constexpr (kind == Kind::geometric) return ceil_of(math_log(v) / log1p_of(-a));
    if constexpr (kind == Kind::log_normal) return exp_of(v * b + a);
    if constexpr (kind == Kind::cauchy) {
      constexpr T step = std::is_same_v<T, double> ? T(0x1p-52) : T(0x1p-23);
      v = v > T(1) - step ? T(1) - step : v < step ? step : v;
      return a + b * tan_of(T(3.14159265358979323846) * (v - T(0.5)));
    }
    return v;
  }
  __device__ void put(void* at, ScalarType dtype, T v, const void*, ScalarType) const {
    store_as<T>(at, dtype, transform(v));
  }
  __device__ static float math_log(float x) { return ::logf(x); }
  __device__ static double math_log(double x) { return ::log(x); }
  __device__ static float log1p_of(float x) { return ::log1pf(x); }
  __device__ static double log1p_of(double x) { return ::log1p(x); }
  __device__ static float ceil_of(float x) { return ::ceilf(x); }
  __device__ static double ceil_of(double x) { return ::ceil(x); }
  __device__ static float exp_of(float x) { return ::expf(x); }
  __device__ static double exp_of(double x) { return ::exp(x); }
  __device__ static float tan_of(float x) { return ::tanf(x); }
  __device__ static double tan_of(double x) { return ::tan(x); }
};

/// 1 with the probability that stands at the same place.
template <class T>
struct Each : Uniforms<T> {
  Reporter reporter;
  __device__ void put(void* at, ScalarType dtype, T v, const void* p, ScalarType p_dtype) const {
    const T probability = load_as<T>(p, p_dtype);
    if (!(probability >= T(0) && probability <= T(1))) reporter.out_of_range(0, 0);
    store_as<T>(at, dtype, v <= probability ? T(1) : T(0));
  }
};

/// Integers in [base, base + range), of 32 or 64 bits; range 0: all of 2^64.
template <bool Long>
struct Integers {
  using Value = uint64_t;
  static constexpr int kValues = Long ? 2 : 4;
  uint64_t range;
  int64_t base;
  __device__ static void draw(const Draw4& d, uint64_t* v) {
    if constexpr (Long)
      v[0] = uint64_t{d.x} << 32 | d.y, v[1] = uint64_t{d.z} << 32 | d.w;
    else
      v[0] = d.x, v[1] = d.y, v[2] = d.z, v[3] = d.w;
  }
  __device__ void put(void* at, ScalarType dtype, uint64_t v, const void*, ScalarType) const {
    const auto drawn = static_cast<int64_t>(range ? v % range : v);
    store_as<int64_t>(at, dtype, static_cast<int64_t>(static_cast<uint64_t>(drawn) + static_cast<uint64_t>(base)));
  }
};

/// As many blocks as the device runs at once with 256 threads each.
int64_t most_blocks() {
  static const int64_t most = [] {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, current_device()), "random");
    return int64_t{p.multiProcessorCount} * (p.maxThreadsPerMultiProcessor / kDraws);
  }();
  return most;
}

template <class Distribution>
struct DrawCall {
  Distribution distribution;
  CudaGenerator* generator;
};

template <class Distribution>
void launch_draw(const Walk& walk, const void* context) {
  const auto& call = *static_cast<const DrawCall<Distribution>*>(context);
  const int64_t n = walk.numel, blocks = std::min<int64_t>((n + kDraws - 1) / kDraws, most_blocks());
  const int64_t rounds = (n - 1) / (kDraws * blocks * Distribution::kValues) + 1;
  PhiloxStart start;
  {
    const std::lock_guard lock(call.generator->mutex_);
    start = call.generator->start_for_kernel(static_cast<uint64_t>(rounds * 4));
  }
  HB_LAUNCH((draw_kernel<Distribution>), static_cast<unsigned>(blocks), kDraws, 0, current_stream(), walk, start,
            call.distribution);
}

template <class Distribution>
void draw(const char* name, const Loop& loop, const MaybeGenerator& generator, const Distribution& distribution) {
  const DrawCall<Distribution> call{distribution, &generator_of(name, generator)};
  for_walks(name, loop, launch_draw<Distribution>, &call);
}

template <Kind kind>
void draw_floats(const char* name, const Tensor& out, double a, double b, const MaybeGenerator& generator) {
  constexpr bool normal = kind == Kind::normal || kind == Kind::log_normal;
  const Loop loop({&out}, {});
  if (out.scalar_type() == kDouble) {
    using Draws = std::conditional_t<normal, NormalDraws<double>, TwoDoubles>;
    return draw(name, loop, generator, Transformed<double, kind, Draws>{{}, a, b});
  }
  using Draws = std::conditional_t<normal, NormalDraws<float>, FourFloats>;
  draw(name, loop, generator, Transformed<float, kind, Draws>{{}, static_cast<float>(a), static_cast<float>(b)});
}

void uniform_cuda(const Tensor& out, double from, double to, const MaybeGenerator& g) {
  draw_floats<Kind::uniform>("uniform_", out, from, to, g);
}
void normal_cuda(const Tensor& out, double mean, double std, const MaybeGenerator& g) {
  draw_floats<Kind::normal>("normal_", out, mean, std, g);
}
void bernoulli_cuda(const Tensor& out, double p, double yes, const MaybeGenerator& g) {
  draw_floats<Kind::bernoulli>("bernoulli_", out, p, yes, g);
}
void exponential_cuda(const Tensor& out, double lambda, const MaybeGenerator& g) {
  draw_floats<Kind::exponential>("exponential_", out, lambda, 0, g);
}
void geometric_cuda(const Tensor& out, double p, const MaybeGenerator& g) {
  draw_floats<Kind::geometric>("geometric_", out, p, 0, g);
}
void log_normal_cuda(const Tensor& out, double mean, double std, const MaybeGenerator& g) {
  draw_floats<Kind::log_normal>("log_normal_", out, mean, std, g);
}
void cauchy_cuda(const Tensor& out, double median, double sigma, const MaybeGenerator& g) {
  draw_floats<Kind::cauchy>("cauchy_", out, median, sigma, g);
}
void bernoulli_each_cuda(const Tensor& out, const Tensor& p, const MaybeGenerator& g) {
  const Loop loop({&out}, {&p});
  const Reporter wrong = reporter("bernoulli_", "Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
  if (p.scalar_type() == kDouble) return draw("bernoulli_", loop, g, Each<double>{{}, wrong});
  draw("bernoulli_", loop, g, Each<float>{{}, wrong});
}

void random_from_to_cuda(const Tensor& out, uint64_t range, int64_t base, const MaybeGenerator& g) {
  const Loop loop({&out}, {});
  if (range == 0 || range >= uint64_t{1} << 28) return draw("random_", loop, g, Integers<true>{range, base});
  draw("random_", loop, g, Integers<false>{range, base});
}
void random_cuda(const Tensor& out, const MaybeGenerator& g) {
  const ScalarType t = out.scalar_type();
  const Loop loop({&out}, {});
  const auto up_to = [](int bits) { return uint64_t{1} << bits; };
  const auto narrow = [&](uint64_t range) { draw("random_", loop, g, Integers<false>{range, 0}); };
  const auto wide = [&](uint64_t range) { draw("random_", loop, g, Integers<true>{range, 0}); };
  if (t == kDouble) return wide(up_to(53) + 1);
  if (t == kLong) return wide(up_to(63));
  if (t == kFloat) return narrow(up_to(24) + 1);
  if (t == kHalf) return narrow(up_to(11) + 1);
  if (t == kBFloat16) return narrow(up_to(8) + 1);
  if (t == kBool) return narrow(2);
  const int bits = static_cast<int>(element_size(t)) * 8 - (is_signed_type(t) ? 1 : 0);
  narrow(up_to(bits));
}

__global__ void advance(uint64_t* start, uint64_t count) { start[1] += count; }

HB_REGISTER_CUDA(uniform_kernel, uniform_cuda);
HB_REGISTER_CUDA(normal_kernel, normal_cuda);
HB_REGISTER_CUDA(bernoulli_kernel, bernoulli_cuda);
HB_REGISTER_CUDA(bernoulli_each_kernel, bernoulli_each_cuda);
HB_REGISTER_CUDA(exponential_kernel, exponential_cuda);
HB_REGISTER_CUDA(geometric_kernel, geometric_cuda);
HB_REGISTER_CUDA(log_normal_kernel, log_normal_cuda);
HB_REGISTER_CUDA(cauchy_kernel, cauchy_cuda);
HB_REGISTER_CUDA(random_from_to_kernel, random_from_to_cuda);
HB_REGISTER_CUDA(random_kernel, random_cuda);

}  // namespace

void advance_draws(uint64_t* start, uint64_t count) { HB_LAUNCH(advance, 1, 1, 0, current_stream(), start, count); }

}  // namespace hb::cuda
