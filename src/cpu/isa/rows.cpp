// Rows of a contiguous tensor, picked or written by index, and indices that count from the end.
#include "cpu/isa/put.h"

namespace hb::cpu::HB_ISA {
namespace {

void wrap_index(const Tensor& out, const Tensor& index, const Tensor& before, int64_t size, const char* name,
                int64_t dim) {
  const auto* from = static_cast<const int64_t*>(index.impl().raw_data());
  const auto* outer = before.defined() ? static_cast<const int64_t*>(before.impl().raw_data()) : nullptr;
  auto* to = static_cast<int64_t*>(out.impl().raw_data());
  const auto n = static_cast<uint64_t>(size);
  parallel_for(0, index.numel(), kGrain, [&](int64_t begin, int64_t end) {
    uint64_t signs = 0;  // what is below -size, or not below size, has a sign
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<uint64_t>(from[i]);
      signs |= (at + n) | (n - 1 - at);
      to[i] = from[i] < 0 ? static_cast<int64_t>(at + n) : from[i];
    }
    for (int64_t i = begin; outer && i < end; ++i) to[i] += outer[i] * size;
    if (HB_LIKELY(!name || static_cast<int64_t>(signs) >= 0)) return;
    for (int64_t i = begin; i < end; ++i) {
      const bool fits = from[i] >= -size && from[i] < size;
      HB_CHECK_INDEX(fits || dim < 0, "[", name, "] index ", from[i], " is out of bounds for dimension ", dim,
                     " with size ", size);
      HB_CHECK_INDEX(fits, "[", name, "] out of range: tried to access index ", from[i], " on a tensor of ", size,
                     " elements.");
    }
  });
}

template <class T>
void pick_words(void* to, const void* from, const int64_t* index, int64_t count) {
#pragma GCC unroll 4
  for (int64_t k = 0; k < count; ++k) static_cast<T*>(to)[k] = static_cast<const T*>(from)[index[k]];
}
void pick_elements(int64_t bytes, void* to, const void* from, const int64_t* index, int64_t count) {
  switch (bytes) {
    case 1:
      return pick_words<uint8_t>(to, from, index, count);
    case 2:
      return pick_words<uint16_t>(to, from, index, count);
    case 4:
      return pick_words<uint32_t>(to, from, index, count);
    case 8:
      return pick_words<uint64_t>(to, from, index, count);
    default:
      return pick_words<Complex<double>>(to, from, index, count);
  }
}

void select_rows(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, Lines l) {
  const int64_t count = index.numel();
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  check_rows(name, at, count, l.n);
  if (l.outer * count * l.inner == 0) return;
  auto* to = static_cast<char*>(out.impl().visible_data());
  const auto* from = static_cast<const char*>(in.impl().visible_data());
  const auto item = static_cast<int64_t>(in.impl().itemsize());
  const int64_t row = l.inner * item;
  parallel_for(0, l.outer * count, std::max<int64_t>(1, 4 * kGrain / row), [&](int64_t b, int64_t e) {
    while (b < e) {
      const int64_t o = b / count, k = b % count, n = std::min(count - k, e - b);
      const char* base = from + o * l.n * row;
      char* dest = to + b * row;
      if (l.inner == 1) {
        pick_elements(item, dest, base, at + k, n);
      } else {
        for (int64_t j = 0; j < n; ++j) copy_bytes(dest + j * row, base + at[k + j] * row, row);
      }
      b += n;
    }
  });
}

template <class T>
void put_rows_of(T* to, const T* from, const int64_t* at, int64_t count, Lines l, PutOp op) {
  const int64_t outer_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, count * l.inner));
  if (l.inner == 1) {
    return with_put<T>(op, [&](auto put) {
      parallel_for(0, l.outer, outer_grain, [&](int64_t b, int64_t e) {
        for (int64_t o = b; o < e; ++o) {
          if constexpr (std::is_same_v<T, BFloat16>)
            if (adds_at<T>(op, l.n, count) && add_at(to + o * l.n, l.n, from + o * count, at, count)) continue;
          for (int64_t k = 0; k < count; ++k) put(to[o * l.n + at[k]], from[o * count + k]);
        }
      });
    });
  }
  // An index may come twice: outer positions and columns are independent, rows are not.
  if (l.outer > 1 || l.inner < 64) {
    return parallel_for(0, l.outer, outer_grain, [&](int64_t b, int64_t e) {
      for (int64_t o = b; o < e; ++o)
        for (int64_t k = 0; k < count; ++k)
          put_row(to + (o * l.n + at[k]) * l.inner, from + (o * count + k) * l.inner, l.inner, op);
    });
  }
  const int64_t grain = std::max<int64_t>(32, kGrain / std::max<int64_t>(1, count));
  parallel_for(0, l.inner, grain, [&](int64_t b, int64_t e) {
    for (int64_t k = 0; k < count; ++k) put_row(to + at[k] * l.inner + b, from + k * l.inner + b, e - b, op);
  });
}

void put_rows(const char* name, const Tensor& out, const Tensor& index, const Tensor& in, Lines l, PutOp op) {
  check_order(name, out.scalar_type(), op);
  const int64_t count = index.numel();
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  check_rows(name, at, count, l.n, op != PutOp::add || l.outer * l.inner == 1);  // the kinds of LibTorch's index_add
  if (l.outer * count * l.inner == 0) return;
  switch (moved_type(out.scalar_type())) {
#define HB_CASE(T, Name)                                                                                            \
  case ScalarType::Name:                                                                                            \
    return put_rows_of(static_cast<T*>(out.impl().visible_data()), static_cast<const T*>(in.impl().visible_data()), \
                       at, count, l, op);
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", out.scalar_type());
  }
}

HB_REGISTER_ISA(wrap_index_kernel, wrap_index);
HB_REGISTER_ISA(select_rows_kernel, select_rows);
HB_REGISTER_ISA(put_rows_kernel, put_rows);

}  // namespace
}  // namespace hb::cpu::HB_ISA
