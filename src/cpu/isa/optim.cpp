// The loops of the update rules. Built without contraction of products and sums, so that a rule rounds where LibTorch
// does.

#include "kernels/optim.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/isa/convert_element.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Elements that stay together: what a thread gets begins on a cache line wherever the tensor does.
constexpr int64_t kUnit = 64;
/// An update does several times the work of an addition.
constexpr int64_t kUpdateGrain = kGrain / 4;

struct Exact {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};
/// A float rounded to the nearest value of a half type. Always inlined: a call would keep the loop from being
/// vectorised.
template <class Half16>
struct Rounded;
template <>
struct Rounded<BFloat16> {
  [[gnu::always_inline]] float operator()(float x) const {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
    return x != x ? x : std::bit_cast<float>(rounded);
  }
};
template <>
struct Rounded<Half> {
  // Without branches: adding a number 2^13 times as large pushes out the digits that binary16 lacks.
  [[gnu::always_inline]] float operator()(float x) const {
    constexpr int32_t kLowest = (127 - 14) << 23, kHighest = (127 + 16) << 23;  // subnormals share a step; overflow
    const int32_t bits = std::bit_cast<int32_t>(x);
    const int32_t exponent = std::min(std::max(bits & 0x7f800000, kLowest), kHighest);
    const float large = std::bit_cast<float>((exponent + (13 << 23)) | 0x400000);
    const float nearest = (x + large) - large;
    const float finite = nearest * (std::fabs(nearest) > 65504.0f ? std::numeric_limits<float>::infinity() : 1.0f);
    return std::bit_cast<float>(std::bit_cast<int32_t>(finite) | (bits & std::numeric_limits<int32_t>::min()));
  }
};

template <unsigned used, class Formula, class T, class Round>
void update_run(const Formula& formula, Round round, int64_t n, T* __restrict p, const T* __restrict g,
                T* __restrict s0, T* __restrict s1, T* __restrict s2) {
  const Formula f = formula;
  HB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T param = p[i], s[UpdateTensor::kMaxStates] = {};
    if constexpr (used & 1) s[0] = s0[i];
    if constexpr (used & 2) s[1] = s1[i];
    if constexpr (used & 4) s[2] = s2[i];
    f(round, param, g[i], s);
    p[i] = param;
    if constexpr (used & 1) s0[i] = s[0];
    if constexpr (used & 2) s1[i] = s[1];
    if constexpr (used & 4) s2[i] = s[2];
  }
}

// Not inlined: every rule would carry copies of these loops.
template <class To, class From>
[[gnu::noinline]] void convert_block(To* to, const From* from, int64_t n) {
  convert_run(to, from, n);
}

/// Half types are widened block by block, in the first-level cache.
template <unsigned used, class Stored, class Formula>
void update_half(const Formula& formula, int64_t n, Stored* p, const Stored* g, Stored* const* s) {
  constexpr int64_t kBlock = 512;
  alignas(64) float wide[2 + UpdateTensor::kMaxStates][kBlock] = {};
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t size = std::min(kBlock, n - at);
    convert_block(wide[0], p + at, size);
    convert_block(wide[1], g + at, size);
    for (int i = 0; i < UpdateTensor::kMaxStates; ++i)
      if (used >> i & 1) convert_block(wide[2 + i], s[i] + at, size);
    // Always a whole block, whose length the compiler knows.
    update_run<used>(formula, Rounded<Stored>(), kBlock, wide[0], wide[1], wide[2], wide[3], wide[4]);
    convert_block(p + at, wide[0], size);
    for (int i = 0; i < UpdateTensor::kMaxStates; ++i)
      if (used >> i & 1) convert_block(s[i] + at, wide[2 + i], size);
  }
}

/// Elements [from, to) of one tensor.
template <unsigned used, class Stored, class Formula>
void update_tensor(const Formula& formula, const UpdateTensor& t, int64_t from, int64_t to) {
  auto* p = static_cast<Stored*>(t.param) + from;
  const auto* g = static_cast<const Stored*>(t.grad) + from;
  Stored* s[UpdateTensor::kMaxStates];
  for (int i = 0; i < UpdateTensor::kMaxStates; ++i)
    s[i] = used >> i & 1 ? static_cast<Stored*>(t.state[i]) + from : nullptr;
  if constexpr (is_half_v<Stored>) {
    update_half<used>(formula, to - from, p, g, s);
  } else {
    update_run<used>(formula, Exact(), to - from, p, g, s[0], s[1], s[2]);
  }
}

/// Whether two of the tensors share memory: then their updates must follow each other.
bool overlap(ArrayRef<UpdateTensor> tensors, size_t itemsize) {
  static thread_local std::vector<std::pair<const char*, const char*>> ranges;
  ranges.clear();
  for (const auto& t : tensors) {
    const auto* begin = static_cast<const char*>(t.param);
    ranges.emplace_back(begin, begin + t.numel * itemsize);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second) return true;
  return false;
}

int64_t units(const UpdateTensor& t) { return (t.numel + kUnit - 1) / kUnit; }

/// Calls fn(tensor, from, to) on ranges of elements. All tensors end to end are split among the threads, so that many
/// small ones cost no more than one large one.
template <class F>
void for_ranges(ArrayRef<UpdateTensor> tensors, size_t itemsize, const F& fn) {
  int64_t total = 0;
  for (const auto& t : tensors) total += units(t);
  int threads = threads_for(total, kUpdateGrain / kUnit);
  if (threads > 1 && overlap(tensors, itemsize)) threads = 1;
  parallel_ranges(0, total, threads, [&](int64_t from, int64_t to, int) {
    for (const auto& t : tensors) {
      const int64_t size = units(t);
      if (from < size && to > 0) fn(t, std::max<int64_t>(from, 0) * kUnit, std::min(t.numel, to * kUnit));
      from -= size, to -= size;
    }
  });
}

template <class Rule, class Stored, unsigned flags>
void update_range(const Rule& rule, const UpdateTensor& t, int64_t from, int64_t to) {
  using T = std::conditional_t<is_half_v<Stored>, float, Stored>;
  const typename Rule::template Formula<T, flags> formula(rule);
  update_tensor<Rule::states(flags), Stored>(formula, t, from, to);
}

template <class Rule, class Stored>
void update_flags(const Rule& rule, unsigned flags, ArrayRef<UpdateTensor> tensors) {
  using Function = void (*)(const Rule&, const UpdateTensor&, int64_t, int64_t);
  static constexpr auto table = []<unsigned... f>(std::integer_sequence<unsigned, f...>) {
    return std::array<Function, sizeof...(f)>{update_range<Rule, Stored, f>...};
  }
  (std::make_integer_sequence<unsigned, Rule::kFlagSets>());
  for_ranges(tensors, sizeof(Stored),
             [&rule, fn = table[flags]](const UpdateTensor& t, int64_t from, int64_t to) { fn(rule, t, from, to); });
}

template <class Rule>
void update(ScalarType dtype, ArrayRef<UpdateTensor> tensors, const Rule& rule, unsigned flags) {
  switch (dtype) {
    case kFloat:
      return update_flags<Rule, float>(rule, flags, tensors);
    case kDouble:
      return update_flags<Rule, double>(rule, flags, tensors);
    case kHalf:
      return update_flags<Rule, Half>(rule, flags, tensors);
    case kBFloat16:
      return update_flags<Rule, BFloat16>(rule, flags, tensors);
    default:
      HB_NOT_SUPPORTED("[optimizer step] expected a floating-point parameter, got dtype ", dtype);
  }
}

[[maybe_unused]] const bool registered = [] {
  if (isa_level() < kIsaLevel) return false;
#define HB_SET_UPDATE(Rule, kernel, name) kernel.set(kCPU, update<Rule>, kIsaLevel);
  HB_FORALL_UPDATE_RULES(HB_SET_UPDATE)
#undef HB_SET_UPDATE
  return true;
}();

}  // namespace
}  // namespace hb::cpu::HB_ISA
