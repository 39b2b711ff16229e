#pragma once
// The kernels of a formula: a general one for any dtypes and layouts in each compute type, one for any layout of the
// usual dtypes, four elements a thread, and one with accesses of 16 bytes for contiguous floats and halves.

#include "cuda/convert.h"
#include "cuda/register.h"
#include "cuda/walk.h"
#include "formulas/formula.h"

namespace hb::cuda {

template <class T, int Params>
struct FormulaArguments {
  T params[Params + 1];
  T number[kMostOperands];  // of the host
};

template <class F, class T>
__device__ inline T apply_formula(const T* p, const T* x) {
  if constexpr (F::inputs == 1)
    return F::template apply<T>(p, x[0]);
  else if constexpr (F::inputs == 2)
    return F::template apply<T>(p, x[0], x[1]);
  else
    return F::template apply<T>(p, x[0], x[1], x[2]);
}

/// 1 for formulas whose kernels ptxas would else keep registers of in memory, to have more blocks at once
/// (tools/gpu/registers.py).
template <class F>
constexpr int kLeastBlocks = 0;

template <class F, class T>
__global__ void __launch_bounds__(kThreads, kLeastBlocks<F>)
    formula_kernel(HB_ARGUMENT(Walk) walk, HB_ARGUMENT(FormulaArguments<T, F::params>) a) {
  constexpr int operands = F::inputs + 1;
  HB_GRID_LOOP(i, walk.numel) {
    int32_t offset[operands];
    walk.offsets<operands>(static_cast<uint32_t>(i), offset);
    T x[F::inputs];
#pragma unroll
    for (int k = 1; k < operands; ++k)
      x[k - 1] = walk.numbers >> k & 1 ? a.number[k] : load_as<T>(walk.data[k] + offset[k], walk.dtype[k]);
    store_as<T>(walk.data[0] + offset[0], walk.dtype[0], apply_formula<F, T>(a.params, x));
  }
}

/// Elements that a thread of the kernel for usual dtypes takes, a block's width apart: as many loads are in flight.
constexpr int kAtOnce = 4;

/// Dtypes whose elements that kernel takes, computed in T.
template <class T>
struct UsualTypes {};
#define HB_USUAL_TYPES(T, ...)                                           \
  template <>                                                            \
  struct UsualTypes<T> {                                                 \
    template <class F>                                                   \
    __host__ __device__ static bool with(ScalarType dtype, const F& f) { \
      return with_one_of<F, __VA_ARGS__>(dtype, f);                      \
    }                                                                    \
  }
/// Calls f(X()) for the type of `dtype` if it is one of these.
template <class F, class... X>
__host__ __device__ inline bool with_one_of(ScalarType dtype, const F& f) {
  return ((dtype == dtype_of<X>::value && (f(X()), true)) || ...);
}
HB_USUAL_TYPES(float, float, BFloat16, Half, bool);
HB_USUAL_TYPES(double, double, bool);
HB_USUAL_TYPES(int64_t, int64_t, int32_t, uint8_t, bool);
#undef HB_USUAL_TYPES

template <class F, class T>
__global__ void __launch_bounds__(kThreads, 1)
    usual_kernel(HB_ARGUMENT(Walk) walk, HB_ARGUMENT(FormulaArguments<T, F::params>) a) {
  constexpr int operands = F::inputs + 1;
  constexpr uint32_t block = kThreads * kAtOnce;
  for (int64_t first = int64_t{blockIdx.x} * block + threadIdx.x; first < walk.numel;
       first += int64_t{gridDim.x} * block) {
    int32_t offset[kAtOnce][operands];
    T x[kAtOnce][F::inputs];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const auto i = static_cast<uint32_t>(first) + j * kThreads;
      walk.offsets<operands>(i < walk.numel ? i : static_cast<uint32_t>(first), offset[j]);
    }
#pragma unroll
    for (int k = 1; k < operands; ++k) {
      if (walk.numbers >> k & 1) {
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) x[j][k - 1] = a.number[k];
        continue;
      }
      UsualTypes<T>::with(walk.dtype[k], [&](auto type) {
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) x[j][k - 1] = load_one<T, decltype(type)>(walk.data[k] + offset[j][k]);
      });
    }
    T y[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) y[j] = apply_formula<F, T>(a.params, x[j]);
    UsualTypes<T>::with(walk.dtype[0], [&](auto type) {
      using X = decltype(type);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j)
        if (first + j * kThreads < walk.numel) *reinterpret_cast<X*>(walk.data[0] + offset[j][0]) = convert<X>(y[j]);
    });
  }
}

template <class F>
__global__ void __launch_bounds__(kThreads, kLeastBlocks<F>)
    contiguous_kernel(HB_ARGUMENT(Walk) walk, HB_ARGUMENT(FormulaArguments<float, F::params>) a) {
  constexpr int operands = F::inputs + 1;
  const uint32_t vectors = walk.numel / kVector;
  HB_GRID_LOOP(v, vectors) {
    float x[F::inputs][kVector], y[kVector];
#pragma unroll
    for (int k = 1; k < operands; ++k) {
      const auto size = walk.dtype[k] == kFloat ? 4 : 2;
      if (walk.numbers >> k & 1 || walk.stride[0][k] == 0) {
        const float same = walk.numbers >> k & 1 ? a.number[k] : load_as<float>(walk.data[k], walk.dtype[k]);
#pragma unroll
        for (int j = 0; j < kVector; ++j) x[k - 1][j] = same;
      } else {
        load_floats(x[k - 1], walk.data[k] + v * kVector * size, walk.dtype[k]);
      }
    }
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      float in[F::inputs];
#pragma unroll
      for (int k = 0; k < F::inputs; ++k) in[k] = x[k][j];
      y[j] = apply_formula<F, float>(a.params, in);
    }
    store_floats(walk.data[0] + v * kVector * (walk.dtype[0] == kFloat ? 4 : 2), walk.dtype[0], y);
  }
  const int64_t i = vectors * int64_t{kVector} + grid_thread();  // what is left of the last vector
  if (i >= walk.numel) return;
  float x[F::inputs];
#pragma unroll
  for (int k = 1; k < operands; ++k)
    x[k - 1] =
        walk.numbers >> k & 1 ? a.number[k] : load_as<float>(walk.data[k] + i * walk.stride[0][k], walk.dtype[k]);
  store_as<float>(walk.data[0] + i * walk.stride[0][0], walk.dtype[0], apply_formula<F, float>(a.params, x));
}

/// Whether a thread may take vectors of the operands: they are floats and halves.
inline bool floats_or_halves(const Walk& walk) {
  for (int k = 0; k < walk.operands; ++k)
    if (!(walk.numbers >> k & 1) && walk.dtype[k] != kFloat && !is_half_type(walk.dtype[k])) return false;
  return true;
}

template <class T>
bool all_usual(const Walk& walk) {
  for (int k = 0; k < walk.operands; ++k)
    if (!(walk.numbers >> k & 1) && !UsualTypes<T>::with(walk.dtype[k], [](auto) {})) return false;
  return true;
}

// What costs much for each element gains nothing from wide accesses, or from several at a time.
template <class F>
constexpr bool has_vectors = F::cost <= 8;
template <class F, class T>
constexpr bool has_several = !is_complex_v<T> && F::cost <= (std::is_same_v<T, float> ? 16 : 8);

template <class F, class T>
void launch_formula(const Walk& walk, const double* params) {
  FormulaArguments<T, F::params> a{};
  for (int i = 0; i < F::params; ++i) a.params[i] = static_cast<T>(params[i]);
  for (int k = 1; k < walk.operands; ++k)
    if (walk.numbers >> k & 1) a.number[k] = load_as<T>(walk.data[k], walk.dtype[k]);
  if constexpr (std::is_same_v<T, float> && has_vectors<F>) {
    if (floats_or_halves(walk) && contiguous(walk, kVector)) {
      HB_LAUNCH((contiguous_kernel<F>), blocks_for(walk.numel, kThreads * kVector), kThreads, 0, current_stream(), walk,
                a);
      return;
    }
  }
  if constexpr (has_several<F, T>) {
    if (all_usual<T>(walk)) {
      HB_LAUNCH((usual_kernel<F, T>), blocks_for(walk.numel, kThreads * kAtOnce), kThreads, 0, current_stream(), walk,
                a);
      return;
    }
  }
  HB_LAUNCH((formula_kernel<F, T>), blocks_for(walk.numel), kThreads, 0, current_stream(), walk, a);
}

template <class F, class T>
void run_in(const char* name, const ElementwiseCall& call) {
  using formula::Kinds;
  constexpr bool integer = std::is_integral_v<T>;
  constexpr bool allowed = is_complex_v<T> ? F::kinds == Kinds::numbers || F::kinds == Kinds::field
                           : integer       ? F::kinds != Kinds::floats && F::kinds != Kinds::field
                                           : F::kinds != Kinds::ints;
  if constexpr (!allowed) {
    HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", dtype_of<T>::value);
  } else {
    const auto launch = [](const Walk& walk, const void* params) {
      launch_formula<F, T>(walk, static_cast<const double*>(params));
    };
    if (call.flat)
      for_walks(name, *call.flat, launch, call.params.data());
    else
      for_walks(name, *call.loop, launch, call.params.data());
  }
}

/// Integers of 64 bits without a sign are computed as signed ones where that is right.
template <class F>
void check_unsigned(const char* name, const ElementwiseCall& call) {
  if (formula::modular<F>) return;
  const int operands = call.flat ? call.flat->operands : call.loop->operands;
  for (int k = 0; k < operands; ++k)
    if ((call.flat ? call.flat->dtype[k] : call.loop->op[k].dtype) == kUInt64)
      HB_NOT_SUPPORTED("[", name, "] is not supported for dtype UInt64: convert it with to(torch::kLong)");
}

template <class F>
void run_formula(const char* name, const ElementwiseCall& call) {
  switch (call.compute) {
    case kFloat:
      return run_in<F, float>(name, call);
    case kDouble:
      return run_in<F, double>(name, call);
    case kComplexFloat:
      return run_in<F, Complex<float>>(name, call);
    case kComplexDouble:
      return run_in<F, Complex<double>>(name, call);
    default:
      check_unsigned<F>(name, call);
      return run_in<F, int64_t>(name, call);
  }
}

}  // namespace hb::cuda

#define HB_REGISTER_CUDA_FORMULA(name) \
  HB_REGISTER_CUDA(                    \
      name##_formula, +[](const ElementwiseCall& call) { run_formula<formula::name>(#name, call); });
