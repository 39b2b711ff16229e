// Rows of a contiguous tensor, picked or written by index.
#include <cstring>

#include "cpu/isa/convert_element.h"
#include "cpu/isa/runs.h"
#include "kernels/indexing.h"

namespace hb::cpu::HB_ISA {
namespace {

int64_t checked(const char* name, int64_t i, int64_t n) {
  HB_CHECK_INDEX(i >= 0 && i < n, "[", name, "] index ", i, " is out of range for a dimension of size ", n);
  return i;
}

template <class T>
void pick_words(void* to, const void* from, const int64_t* index, int64_t count) {
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
    default:
      return pick_words<uint64_t>(to, from, index, count);
  }
}

void select_rows(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, Lines l) {
  const int64_t count = index.numel();
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  for (int64_t k = 0; k < count; ++k) checked(name, at[k], l.n);
  if (l.outer * count * l.inner == 0) return;
  auto* to = static_cast<char*>(out.impl().raw_data());
  const auto* from = static_cast<const char*>(in.impl().raw_data());
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
        for (int64_t j = 0; j < n; ++j) std::memcpy(dest + j * row, base + at[k + j] * row, row);
      }
      b += n;
    }
  });
}

template <class T>
T combined(PutOp op, T a, T b) {
  switch (op) {
    case PutOp::add:
      if constexpr (std::is_same_v<T, bool>)
        return a || b;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      else
        return a + b;
    case PutOp::multiply:
      if constexpr (std::is_same_v<T, bool>)
        return a && b;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      else
        return a * b;
    case PutOp::max:
      return (b > a) | (b != b) ? b : a;
    case PutOp::min:
      return (b < a) | (b != b) ? b : a;
    default:
      return b;
  }
}

template <class T>
void put_row(T* to, const T* from, int64_t n, PutOp op) {
  if (op == PutOp::assign) {
    std::memcpy(to, from, n * sizeof(T));
  } else if (op == PutOp::add) {
    if constexpr (is_half_v<T>) {
      if (n == 1) {
        *to = combined(PutOp::add, *to, *from);
        return;
      }
      over_runs<T, 2>(n, to, {to, from}, [](float* sum, const auto& x, int64_t, int64_t count) {
        for (int64_t i = 0; i < count; ++i) sum[i] = x[0][i] + x[1][i];
      });
    } else {
      HB_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) to[i] = combined(PutOp::add, to[i], from[i]);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = combined(op, to[i], from[i]);
  }
}

template <class T>
void put_rows_of(T* to, const T* from, const int64_t* at, int64_t count, Lines l, PutOp op) {
  // An index may come twice: outer positions and columns are independent, rows are not.
  if (l.outer > 1 || l.inner < 64) {
    return parallel_for(0, l.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, count * l.inner)),
                        [&](int64_t b, int64_t e) {
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
  const int64_t count = index.numel();
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  for (int64_t k = 0; k < count; ++k) checked(name, at[k], l.n);
  if (l.outer * count * l.inner == 0) return;
  switch (out.scalar_type()) {
#define HB_CASE(T, Name)                                                                                               \
  case ScalarType::Name:                                                                                               \
    return put_rows_of(static_cast<T*>(out.impl().raw_data()), static_cast<const T*>(in.impl().raw_data()), at, count, \
                       l, op);
    HB_FORALL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", out.scalar_type());
  }
}

// --- gather and scatter: an index for every element

/// Positions of a tensor's elements in memory, walked in the order of `sizes` without the last dimension.
struct Walk {
  DimVector sizes, strides;
  int64_t offset(int64_t i) const {
    int64_t offset = 0;
    for (int64_t d = static_cast<int64_t>(sizes.size()) - 2; d >= 0; --d) {
      offset += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return offset;
  }
};

struct Pass {
  DimVector sizes;  // of the index, at least one dimension
  int64_t last, rows;
};

Pass pass_of(const Tensor& index) {
  Pass p{index.impl().sizes(), 1, 1};
  if (p.sizes.empty()) p.sizes.push_back(1);
  p.last = p.sizes.back();
  for (size_t d = 0; d + 1 < p.sizes.size(); ++d) p.rows *= p.sizes[d];
  return p;
}

DimVector strides_of(const Tensor& t) {
  DimVector s = t.impl().physical_strides();
  if (s.empty()) s.push_back(1);
  return s;
}

/// The tensor's own walk and the stride along dim, in which an index counts.
struct Indexed {
  Walk others;  // dim has stride 0 here
  int64_t along, last, size;
};

Indexed indexed(const Tensor& t, const Pass& p, int64_t dim) {
  DimVector strides = strides_of(t);
  Indexed x;
  x.along = strides[dim];
  x.size = t.dim() ? t.impl().sizes()[dim] : 1;
  strides[dim] = 0;
  x.last = strides.back();
  x.others = {p.sizes, strides};
  return x;
}

template <class T>
void gather_of(const char* name, T* out, const T* in, const int64_t* index, const Pass& p, const Indexed& x) {
  parallel_for(0, p.rows, std::max<int64_t>(1, kGrain / (4 * std::max<int64_t>(1, p.last))), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) {
      const T* from = in + x.others.offset(r);
      const int64_t* at = index + r * p.last;
      T* to = out + r * p.last;
      for (int64_t k = 0; k < p.last; ++k) to[k] = from[checked(name, at[k], x.size) * x.along + k * x.last];
    }
  });
}

void gather(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, int64_t dim) {
  if (index.numel() == 0) return;
  const Pass p = pass_of(index);
  const Indexed x = indexed(in, p, dim);
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  void *to = out.impl().raw_data(), *from = in.impl().raw_data();
  switch (in.impl().itemsize()) {
    case 1:
      return gather_of(name, static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), at, p, x);
    case 2:
      return gather_of(name, static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from), at, p, x);
    case 4:
      return gather_of(name, static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), at, p, x);
    default:
      return gather_of(name, static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from), at, p, x);
  }
}

template <class T>
void scatter_of(const char* name, T* out, const int64_t* index, const T* src, const Pass& p, const Indexed& x,
                const Walk& from, PutOp op) {
  const int64_t step = from.strides.back();
  for (int64_t r = 0; r < p.rows; ++r) {
    T* to = out + x.others.offset(r);
    const T* s = src + from.offset(r);
    const int64_t* at = index + r * p.last;
    for (int64_t k = 0; k < p.last; ++k) {
      T& place = to[checked(name, at[k], x.size) * x.along + k * x.last];
      place = combined(op, place, s[k * step]);
    }
  }
}

void scatter(const char* name, const Tensor& out, const Tensor& index, const Tensor& src, int64_t dim, PutOp op) {
  if (index.numel() == 0) return;
  const Pass p = pass_of(index);
  const Indexed x = indexed(out, p, dim);
  const Walk from{p.sizes, strides_of(src)};
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  switch (out.scalar_type()) {
#define HB_CASE(T, Name)                                                                                              \
  case ScalarType::Name:                                                                                              \
    return scatter_of(name, static_cast<T*>(out.impl().raw_data()), at, static_cast<const T*>(src.impl().raw_data()), \
                      p, x, from, op);
    HB_FORALL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", out.scalar_type());
  }
}

HB_REGISTER_ISA(select_rows_kernel, select_rows);
HB_REGISTER_ISA(put_rows_kernel, put_rows);
HB_REGISTER_ISA(gather_kernel, gather);
HB_REGISTER_ISA(scatter_kernel, scatter);

}  // namespace
}  // namespace hb::cpu::HB_ISA
