#pragma once
// The kernels of a formula: a general one for any dtypes and layouts in each compute type, one for any layout of the
// usual dtypes, four elements a thread, and one for those side by side (formula_vectors.h).

#include "cuda/formula_vectors.h"
#include "cuda/register.h"

namespace hb::cuda {

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
      UsualTypes<F, T>::with(walk.dtype[k], [&](auto type) {
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) x[j][k - 1] = load_one<T, decltype(type)>(walk.data[k] + offset[j][k]);
      });
    }
    T y[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) y[j] = apply_formula<F, T>(a.params, x[j]);
    UsualTypes<F, T>::with(walk.dtype[0], [&](auto type) {
      using X = decltype(type);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j)
        if (first + j * kThreads < walk.numel) *reinterpret_cast<X*>(walk.data[0] + offset[j][0]) = convert<X>(y[j]);
    });
  }
}

// What costs much for each element gains nothing from wide accesses, or from several at a time.
template <class F, class T>
constexpr bool has_vectors = !is_complex_v<T> && F::cost <= 16;
template <class F, class T>
constexpr bool has_bytes = std::is_integral_v<T>&& F::cost <= 2;
template <class F, class T>
constexpr bool has_several = !is_complex_v<T> && F::cost <= (std::is_same_v<T, float> ? 16 : 8);

/// Whether a number is what it was after a thread has held it.
template <class Held, class T>
bool holds(T number) {
  if constexpr (std::is_same_v<Held, T>) return true;
  return static_cast<T>(static_cast<Held>(number)) == number;
}

/// Whether the operands have vectors of elements of these types, and are computed.
template <class F, class T, class Set>
bool launch_vectors(const Walk& walk, const FormulaArguments<T, F::params>& a) {
  if (!all_of<Set>(walk)) return false;
  for (int k = 1; k < walk.operands; ++k)
    if (walk.numbers >> k & 1 && !holds<held_t<T, Set>>(a.number[k])) return false;
  const auto vectors = in_vectors(walk, kTogether<F, T, Set>);
  if (vectors)
    HB_LAUNCH((vector_kernel<F, T, Set>), blocks_for(vectors->numel), kThreads, 0, current_stream(), *vectors, a);
  return vectors.has_value();
}

template <class F, class T>
void launch_formula(const Walk& walk, const double* params) {
  FormulaArguments<T, F::params> a{};
  for (int i = 0; i < F::params; ++i) a.params[i] = static_cast<T>(params[i]);
  for (int k = 1; k < walk.operands; ++k)
    if (walk.numbers >> k & 1) a.number[k] = load_as<T>(walk.data[k], walk.dtype[k]);
  if constexpr (has_bytes<F, T>)
    if (launch_vectors<F, T, Bytes>(walk, a)) return;
  if constexpr (has_vectors<F, T>)
    if (launch_vectors<F, T, UsualTypes<F, T>>(walk, a)) return;
  if constexpr (has_several<F, T>) {
    if (all_of<UsualTypes<F, T>>(walk)) {
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
