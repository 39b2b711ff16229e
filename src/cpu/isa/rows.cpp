// Rows of a contiguous tensor, picked or written by index, and indices that count from the end.
#include <initializer_list>
#include <vector>

#include "cpu/isa/put.h"

namespace hb::cpu::HB_ISA {
namespace {

/// to[i] = from[i], from the end where it is negative; `before`: that of a dimension with more before it, whose places
/// they become. Whether all are in [-size, size).
bool wrap(int64_t* to, const int64_t* from, const int64_t* before, int64_t count, int64_t size) {
  const auto n = static_cast<uint64_t>(size);
  uint64_t signs = 0;  // what is below -size, or not below size, has a sign
  const auto place = [&](int64_t i) {
    const auto at = static_cast<uint64_t>(from[i]);
    signs |= (at + n) | (n - 1 - at);
    return static_cast<int64_t>(at + (from[i] < 0 ? n : 0));
  };
  if (before)
    for (int64_t i = 0; i < count; ++i) to[i] = before[i] * size + place(i);
  else
    for (int64_t i = 0; i < count; ++i) to[i] = place(i);
  return static_cast<int64_t>(signs) >= 0;
}

/// Names the first that is not in [-size, size).
[[gnu::noinline]] void refuse_outside(const char* name, const int64_t* from, int64_t count, int64_t size, int64_t dim) {
  for (int64_t i = 0; i < count; ++i) {
    const bool fits = from[i] >= -size && from[i] < size;
    HB_CHECK_INDEX(fits || dim < 0, "[", name, "] index ", from[i], " is out of bounds for dimension ", dim,
                   " with size ", size);
    HB_CHECK_INDEX(fits, "[", name, "] out of range: tried to access index ", from[i], " on a tensor of ", size,
                   " elements.");
  }
}

void wrap_index(const Tensor& out, const Tensor& index, const Tensor& before, int64_t size, const char* name,
                int64_t dim) {
  const auto* from = static_cast<const int64_t*>(index.impl().raw_data());
  const auto* outer = before.defined() ? static_cast<const int64_t*>(before.impl().raw_data()) : nullptr;
  auto* to = static_cast<int64_t*>(out.impl().raw_data());
  parallel_for(0, index.numel(), kGrain, [&](int64_t begin, int64_t end) {
    const bool inside = wrap(to + begin, from + begin, outer ? outer + begin : nullptr, end - begin, size);
    if (HB_UNLIKELY(name && !inside)) refuse_outside(name, from + begin, end - begin, size, dim);
  });
}

/// Places by the indices of several dimensions.
class Places {
 public:
  Places(const char* name, std::initializer_list<const Tensor*> indices, const IndexedSizes& of)
      : name_(name), of_(of) {
    for (const Tensor* t : indices)
      if (t->defined()) index_[count_++] = static_cast<const int64_t*>(t->impl().raw_data());
  }
  /// Those of indices [first, first + count).
  void get(int64_t* to, int64_t first, int64_t count) const {
    for (int d = 0; d < count_; ++d) {
      const int64_t* from = index_[d] + first;
      if (HB_UNLIKELY(!wrap(to, from, d ? to : nullptr, count, of_.size[d])))
        refuse_outside(name_, from, count, of_.size[d], of_.dim[d]);
    }
  }

 private:
  const char* name_;
  const IndexedSizes& of_;
  const int64_t* index_[IndexedSizes::kMost];
  int count_ = 0;
};

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

/// Rows that are moved whole.
struct Moved {
  char* to;
  const char* from;
  int64_t item, row, grain;  // bytes of an element and of a row; rows that are worth a thread
  bool elements;
  Moved(const Tensor& out, const Tensor& in, const Lines& l)
      : to(static_cast<char*>(out.impl().visible_data())),
        from(static_cast<const char*>(in.impl().visible_data())),
        item(static_cast<int64_t>(in.impl().itemsize())),
        row(l.inner * item),
        grain(std::max<int64_t>(1, 4 * kGrain / std::max<int64_t>(row, 1))),
        elements(l.inner == 1) {}

  /// Rows [first, first + n) of the result are rows at[0], …, at[n - 1] from `base` on.
  void pick(int64_t first, int64_t base, const int64_t* at, int64_t n) const {
    char* dest = to + first * row;
    const char* source = from + base * row;
    if (elements) return pick_elements(item, dest, source, at, n);
    for (int64_t j = 0; j < n; ++j) copy_bytes(dest + j * row, source + at[j] * row, row);
  }
  void pick_all(const Lines& l, const int64_t* at, int64_t count) const {
    if (l.outer * count * row == 0) return;
    parallel_for(0, l.outer * count, grain, [&](int64_t b, int64_t e) {
      while (b < e) {
        const int64_t k = b % count, n = std::min(count - k, e - b);
        pick(b, b / count * l.n, at + k, n);
        b += n;
      }
    });
  }
};

void select_rows(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, Lines l) {
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  check_rows(name, at, index.numel(), l.n);
  Moved(out, in, l).pick_all(l, at, index.numel());
}

void select_places(const char* name, const Tensor& out, const Tensor& in, const Tensor& first, const Tensor& second,
                   const Tensor& third, IndexedSizes of, Lines l) {
  const Places places(name, {&first, &second, &third}, of);
  const Moved rows(out, in, l);
  const int64_t count = first.numel();
  if (l.outer == 1) {  // places stay in the nearest cache until they are used
    return parallel_for(0, count, rows.grain, [&](int64_t b, int64_t e) {
      constexpr int64_t kBlock = 512;
      int64_t at[kBlock];
      for (int64_t n; b < e; b += n) {
        n = std::min(kBlock, e - b);
        places.get(at, b, n);
        rows.pick(b, 0, at, n);
      }
    });
  }
  std::vector<int64_t> at(count);
  parallel_for(0, count, kGrain, [&](int64_t b, int64_t e) { places.get(at.data() + b, b, e - b); });
  rows.pick_all(l, at.data(), count);
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
HB_REGISTER_ISA(select_places_kernel, select_places);
HB_REGISTER_ISA(put_rows_kernel, put_rows);

}  // namespace
}  // namespace hb::cpu::HB_ISA
