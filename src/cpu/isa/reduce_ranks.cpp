// Values of several ranks become one: what collectives compute.
#include "backend/reduce_ranks.h"

#include <type_traits>

#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kBlock = 1024;

template <class T>
constexpr bool kHalfType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr bool kComplexType = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;
template <class T>
using sum_t = std::conditional_t<kHalfType<T>, float, T>;

template <RankReduction op, class T>
inline T combine(T a, T b) {
  // A sum or a product of bools is "any" and "all".
  if constexpr (std::is_same_v<T, bool>) {
    if constexpr (op == RankReduction::product || op == RankReduction::min || op == RankReduction::bit_and)
      return a & b;
    if constexpr (op == RankReduction::bit_xor) return a ^ b;
    return a | b;
  }
  if constexpr (op == RankReduction::sum || op == RankReduction::mean) return static_cast<T>(a + b);
  if constexpr (op == RankReduction::product) return static_cast<T>(a * b);
  if constexpr (!kComplexType<T>) {
    if constexpr (op == RankReduction::min) return b < a ? b : a;
    if constexpr (op == RankReduction::max) return a < b ? b : a;
  }
  if constexpr (std::is_integral_v<T>) {
    if constexpr (op == RankReduction::bit_and) return static_cast<T>(a & b);
    if constexpr (op == RankReduction::bit_or) return static_cast<T>(a | b);
    if constexpr (op == RankReduction::bit_xor) return static_cast<T>(a ^ b);
  }
  return a;  // check_reduction refuses these pairs
}

template <class T>
void read(const T* in, sum_t<T>* out, int64_t n) {
  if constexpr (kHalfType<T>) {
    load(in, out, n);
  } else {
    std::memcpy(static_cast<void*>(out), in, n * sizeof(T));
  }
}

/// A complex number is divided by a real one, part by part.
template <class T>
inline T divided(T sum, int64_t by) {
  if constexpr (kComplexType<T>) {
    const auto n = static_cast<decltype(sum.real())>(by);
    return T(sum.real() / n, sum.imag() / n);
  } else {
    return static_cast<T>(sum / static_cast<T>(by));
  }
}

template <RankReduction op, class T>
void block(T* out, const void* const* in, int64_t inputs, int64_t from, int64_t n) {
  using S = sum_t<T>;
  alignas(64) S sum[kBlock], other[kBlock];
  read(static_cast<const T*>(in[0]) + from, sum, n);
  for (int64_t rank = 1; rank < inputs; ++rank) {
    const T* next = static_cast<const T*>(in[rank]) + from;
    const S* values = other;
    if constexpr (kHalfType<T>)
      load(next, other, n);
    else
      values = next;
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) sum[i] = combine<op, S>(sum[i], values[i]);
  }
  if constexpr (op == RankReduction::mean && !std::is_same_v<T, bool>)
    for (int64_t i = 0; i < n; ++i) sum[i] = divided(sum[i], inputs);
  if constexpr (kHalfType<T>)
    store(sum, out + from, n);
  else
    std::memcpy(static_cast<void*>(out + from), sum, n * sizeof(T));
}

/// Two inputs in the type they are computed in: element by element, so that `out` may be either.
template <RankReduction op, class T>
void pair(T* out, const T* a, const T* b, int64_t n) {
  HB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T sum = combine<op, T>(a[i], b[i]);
    if constexpr (op == RankReduction::mean && !std::is_same_v<T, bool>) sum = divided(sum, 2);
    out[i] = sum;
  }
}

template <RankReduction op, class T>
void reduce_of(void* out, const void* const* in, int64_t inputs, int64_t n) {
  if constexpr (!kHalfType<T>)
    if (inputs == 2)
      return pair<op>(static_cast<T*>(out), static_cast<const T*>(in[0]), static_cast<const T*>(in[1]), n);
  for (int64_t from = 0; from < n; from += kBlock)
    block<op>(static_cast<T*>(out), in, inputs, from, std::min(kBlock, n - from));
}

template <class T>
void reduce_by(RankReduction op, void* out, const void* const* in, int64_t inputs, int64_t n) {
  switch (op) {
#define HB_CASE(NAME)       \
  case RankReduction::NAME: \
    return reduce_of<RankReduction::NAME, T>(out, in, inputs, n);
    HB_CASE(sum)
    HB_CASE(mean)
    HB_CASE(product)
    HB_CASE(min)
    HB_CASE(max)
    HB_CASE(bit_and)
    HB_CASE(bit_or)
    HB_CASE(bit_xor)
#undef HB_CASE
    case RankReduction::none:
      break;
  }
}

void reduce_ranks(ScalarType type, RankReduction op, void* out, const void* const* in, int64_t inputs, int64_t n) {
  switch (type) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return reduce_by<T>(op, out, in, inputs, n);
    HB_FORALL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[reduce_ranks] is not supported for dtype ", type);
  }
}

HB_REGISTER_ISA(reduce_ranks_kernel, reduce_ranks);

}  // namespace
}  // namespace hb::cpu::HB_ISA
