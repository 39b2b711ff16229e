#pragma once
// What becomes of an element that an index points to, alone or among threads that may point to the same one.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

#include "backend/indexing.h"
#include "core/cuda_settings.h"
#include "cuda/launch.h"

namespace hb::cuda {

/// What is said of a bad index of an element, or of a row, in the CPU's words.
constexpr const char *kBadElement = "index {value} is out of bounds for dimension {dim} with size {limit}",
                     *kBadRow =
                         "index out of range in self: index {value} is out of bounds for a dimension of size {limit}";

/// NaN wins in max and min.
template <PutOp op, class T>
__device__ T combined(T a, T b) {
  if constexpr (op == PutOp::assign) {
    return b;
  } else if constexpr (op == PutOp::add) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return static_cast<T>(a + b);
  } else if constexpr (op == PutOp::multiply) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else
      return static_cast<T>(a * b);
  } else if constexpr (is_complex_v<T>) {
    return a;  // no order: refused before
  } else if constexpr (op == PutOp::max) {
    return b > a || b != b ? b : a;
  } else {
    return b < a || b != b ? b : a;
  }
}

/// Types whose elements threads can combine with each other.
template <class T>
inline constexpr bool puts_together = sizeof(T) <= 8;

/// to = combined(to, value), all at once.
template <PutOp op, class T>
__device__ void put_together(T* to, T value) {
  if constexpr (op == PutOp::assign) {
    *to = value;
  } else if constexpr (op == PutOp::add &&
                       (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int32_t>)) {
    atomicAdd(to, value);
  } else if constexpr (op == PutOp::add && std::is_same_v<T, int64_t>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  } else if constexpr (puts_together<T>) {
    using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
    const auto place = reinterpret_cast<uintptr_t>(to);
    auto* const word = reinterpret_cast<Word*>(place & ~(sizeof(Word) - 1));
    const int shift = static_cast<int>(place & (sizeof(Word) - 1)) * 8;
    const Word all = ~Word{0} >> ((sizeof(Word) - sizeof(T)) * 8);
    Word seen = *word, assumed;
    do {
      assumed = seen;
      const Word bits = (assumed >> shift) & all;
      T before;
      memcpy(static_cast<void*>(&before), &bits, sizeof(T));
      const T after = combined<op>(before, value);
      Word put = 0;
      memcpy(&put, &after, sizeof(T));
      if (put == bits) return;  // as most that come late to a maximum
      seen = atomicCAS(word, assumed, (assumed & ~(all << shift)) | (put << shift));
    } while (seen != assumed);
  }
}

/// Calls fn(T()) for any dtype; wide unsigned integers as signed ones of their size.
template <class F>
void with_dtype(const char* name, ScalarType dtype, const F& fn) {
  switch (moved_type(dtype)) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return fn(T());
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", dtype);
  }
}

inline void check_order(const char* name, ScalarType t, PutOp op) {
  if (is_complex_type(t) && (op == PutOp::max || op == PutOp::min))
    HB_NOT_SUPPORTED("[", name, "] complex numbers have no order: not supported for dtype ", t);
  if (is_wide_unsigned_type(t) && op != PutOp::assign && op != PutOp::add && op != PutOp::multiply)
    HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", t, ": convert it with to(torch::kLong)");
}

/// Whether the program asked for results that do not depend on which thread comes first.
inline bool in_fixed_order() { return cuda_settings().deterministic_algorithms.load(std::memory_order_relaxed); }

/// Calls fn(operation) with a constant.
template <class F>
void with_put(PutOp op, const F& fn) {
  switch (op) {
    case PutOp::assign:
      return fn(std::integral_constant<PutOp, PutOp::assign>());
    case PutOp::add:
      return fn(std::integral_constant<PutOp, PutOp::add>());
    case PutOp::multiply:
      return fn(std::integral_constant<PutOp, PutOp::multiply>());
    case PutOp::max:
      return fn(std::integral_constant<PutOp, PutOp::max>());
    case PutOp::min:
      return fn(std::integral_constant<PutOp, PutOp::min>());
  }
}

}  // namespace hb::cuda
