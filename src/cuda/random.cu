// Distributions. Which thread draws which element, and how many numbers a call takes from the generator, is as in
// PyTorch, so that a seed gives its numbers.
#include "backend/distributions.h"
#include "core/loop.h"
#include "cuda/convert.h"
#include "cuda/generator.h"
#include "cuda/graph.h"
#include "cuda/philox.h"
#include "cuda/register.h"
#include "cuda/walk.h"

namespace hb::cuda {
namespace {

/// Four values of a thread for four elements (two for double and 64 bits). `fixed` is the dtype of contiguous memory,
/// or Undefined where only the walk knows.
template <class Distribution, ScalarType fixed>
__global__ void __launch_bounds__(DrawGrid::kThreads, 4)
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
      if constexpr (fixed != ScalarType::Undefined) {
        d.put(walk.data[0] + i * static_cast<int64_t>(element_size(fixed)), fixed, value[k], nullptr, fixed);
        continue;
      }
      int32_t offset[2];
      walk.offsets<2>(static_cast<uint32_t>(i), offset);
      d.put(walk.data[0] + offset[0], walk.dtype[0], value[k], walk.data[1] + offset[1], walk.dtype[1]);
    }
  }
}

struct FourFloats {
  using Value = float;
  static constexpr int kValues = 4;
  __device__ static void draw(const Draw4& d, float* v) { unit_floats(d, v); }
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
enum class Kind { normal, bernoulli, exponential, geometric, log_normal, cauchy };
template <class T, Kind kind, class Draws>
struct Transformed : Draws {
  T a, b;
  __device__ T transform(T v) const {
    if constexpr (kind == Kind::normal) return v * b + a;
    if constexpr (kind == Kind::bernoulli) return v < a ? b : T(0);
    if constexpr (kind == Kind::exponential) {
      constexpr T half_step = std::is_same_v<T, double> ? T(0x1p-53) : T(0x1p-24);
      return T(-1) / a * (v >= T(1) - half_step ? -half_step : quick_log(v));
    }
    if constexpr (kind == Kind::geometric) return ceil_of(quick_log(v) / log1p_of(-a));
    if constexpr (kind == Kind::log_normal) return quick_exp(v * b + a);
    if constexpr (kind == Kind::cauchy) {
      constexpr T step = T(0x1p-23);  // the hardware's tangent overflows closer to the poles
      if constexpr (std::is_same_v<T, float>) v = v > T(1) - step ? T(1) - step : v < step ? step : v;
      return a + b * quick_tan(T(3.14159265358979323846) * (v - T(0.5)));
    }
    return v;
  }
  __device__ void put(void* at, ScalarType dtype, T v, const void*, ScalarType) const {
    store_as<T>(at, dtype, transform(v));
  }
#ifdef __CUDA_ARCH__
  __device__ static float log1p_of(float x) { return quick_log(1.0f + x); }
#else
  __device__ static float log1p_of(float x) { return ::log1pf(x); }
#endif
  __device__ static double log1p_of(double x) { return ::log1p(x); }
  __device__ static float ceil_of(float x) { return ::ceilf(x); }
  __device__ static double ceil_of(double x) { return ::ceil(x); }
};

template <class T>
__host__ __device__ T rounded_to(ScalarType dtype, T v) {
  if (dtype == kHalf) return static_cast<T>(static_cast<float>(Half(static_cast<float>(v))));
  if (dtype == kBFloat16) return static_cast<T>(static_cast<float>(BFloat16(static_cast<float>(v))));
  return v;
}

/// [from, to), of (0, 1]. What is `to` after it is rounded becomes `from`.
template <class T>
struct Uniform : Uniforms<T> {
  T from, to, width;
  __device__ void put(void* at, ScalarType dtype, T v, const void*, ScalarType) const {
    const T value = rounded_to(dtype, v * width + from);
    store_as<T>(at, dtype, value == to ? from : value);
  }
};

/// Factors of rrelu: a draw of (low, low + width] where the input is not positive, else 1. The draw is rounded before
/// it is scaled, and scaled in double.
template <class T>
struct Slopes : Uniforms<T> {
  double low, width;
  __device__ void put(void* at, ScalarType dtype, T v, const void* input, ScalarType input_dtype) const {
    const auto drawn = static_cast<T>(static_cast<double>(rounded_to(dtype, v)) * width + low);
    store_as<T>(at, dtype, load_as<T>(input, input_dtype) <= T(0) ? drawn : T(1));
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
    uint64_t drawn = v;
    if constexpr (!Long)
      drawn = static_cast<uint32_t>(v) % static_cast<uint32_t>(range);
    else if (range)
      drawn = v % range;
    store_as<int64_t>(at, dtype, static_cast<int64_t>(drawn + static_cast<uint64_t>(base)));
  }
};

template <class Distribution>
struct DrawCall {
  Distribution distribution;
  CudaGenerator* generator;
};

template <class Distribution>
void launch_draw(const Walk& walk, const void* context) {
  const auto& call = *static_cast<const DrawCall<Distribution>*>(context);
  const DrawGrid grid(walk.numel, Distribution::kValues);
  const auto start = call.generator->start_for_kernel(grid.numbers);
  const auto run = [&](auto kernel) {
    launch("draw_kernel", kernel, dim3(grid.blocks), dim3(DrawGrid::kThreads), 0, current_stream(), walk, start,
           call.distribution);
  };
  const ScalarType dtype = walk.operands == 1 && contiguous(walk, 1) ? walk.dtype[0] : ScalarType::Undefined;
  using Value = typename Distribution::Value;
  if constexpr (std::is_same_v<Value, float>) {
    if (dtype == kFloat) return run(draw_kernel<Distribution, kFloat>);
    if (dtype == kHalf) return run(draw_kernel<Distribution, kHalf>);
    if (dtype == kBFloat16) return run(draw_kernel<Distribution, kBFloat16>);
  } else if constexpr (std::is_same_v<Value, double>) {
    if (dtype == kDouble) return run(draw_kernel<Distribution, kDouble>);
  } else {
    if (dtype == kLong) return run(draw_kernel<Distribution, kLong>);
  }
  run(draw_kernel<Distribution, ScalarType::Undefined>);
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
  const Loop loop({&out}, {});
  const ScalarType t = out.scalar_type();
  if (t == kDouble) return draw("uniform_", loop, g, Uniform<double>{{}, from, to, to - from});
  const auto rounded = [t](double x) { return rounded_to(t, static_cast<float>(x)); };
  const float low = rounded(from), high = rounded(to);
  draw("uniform_", loop, g, Uniform<float>{{}, low, high, rounded_to(t, high - low)});
}
void rrelu_slopes_cuda(const Tensor& out, const Tensor& input, double low, double high, const MaybeGenerator& g) {
  const Loop loop({&out}, {&input});
  if (out.scalar_type() == kDouble) return draw("rrelu", loop, g, Slopes<double>{{}, low, high - low});
  draw("rrelu", loop, g, Slopes<float>{{}, low, high - low});
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
HB_REGISTER_CUDA(rrelu_slopes_kernel, rrelu_slopes_cuda);
HB_REGISTER_CUDA(normal_kernel, normal_cuda);
HB_REGISTER_CUDA(bernoulli_kernel, bernoulli_cuda);
HB_REGISTER_CUDA(exponential_kernel, exponential_cuda);
HB_REGISTER_CUDA(geometric_kernel, geometric_cuda);
HB_REGISTER_CUDA(log_normal_kernel, log_normal_cuda);
HB_REGISTER_CUDA(cauchy_kernel, cauchy_cuda);
HB_REGISTER_CUDA(random_from_to_kernel, random_from_to_cuda);
HB_REGISTER_CUDA(random_kernel, random_cuda);

}  // namespace

void advance_draws(uint64_t* start, uint64_t count) { HB_LAUNCH(advance, 1, 1, 0, current_stream(), start, count); }

}  // namespace hb::cuda
