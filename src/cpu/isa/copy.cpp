// Copies between any two dtypes and layouts, and fills.
#include "backend/copy_pieces.h"
#include "backend/elementwise.h"
#include "cpu/isa/convert.h"
#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/transpose.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Sizes and byte strides of a loop, dimension 0 innermost.
struct Plan {
  int dims;
  int64_t size[64], to[64], from[64];
};

/// to is dense along dimension 0, from along dimension 1. Rows [begin, end) of dimension 1.
template <class T>
void transpose(char* to, int64_t to_row, const char* from, int64_t from_row, int64_t n0, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; j += kTransposeTile)
    for (int64_t i = 0; i < n0; i += kTransposeTile)
      transpose_tile<T>(to + j * to_row + i * sizeof(T), to_row, from + i * from_row + j * sizeof(T), from_row,
                        std::min(kTransposeTile, end - j), std::min(kTransposeTile, n0 - i));
}

void transpose_any(int64_t itemsize, char* to, int64_t to_row, const char* from, int64_t from_row, int64_t n0,
                   int64_t begin, int64_t end) {
  switch (itemsize) {
    case 1:
      return transpose<uint8_t>(to, to_row, from, from_row, n0, begin, end);
    case 2:
      return transpose<uint16_t>(to, to_row, from, from_row, n0, begin, end);
    case 4:
      return transpose<uint32_t>(to, to_row, from, from_row, n0, begin, end);
    case 8:
      return transpose<uint64_t>(to, to_row, from, from_row, n0, begin, end);
    default:
      return transpose<Complex<double>>(to, to_row, from, from_row, n0, begin, end);
  }
}

/// The dimension along which `from` is dense, if it is worth a blocked transpose; else -1.
int transposed_dim(const Plan& p, int64_t itemsize, bool same) {
  if (!same || p.dims < 2 || p.to[0] != itemsize || p.from[0] == itemsize || p.from[0] == 0) return -1;
  for (int d = 1; d < p.dims; ++d)
    if (p.from[d] == itemsize && p.size[d] >= 4 && p.size[0] >= 4) return d;
  return -1;
}

void swap_dims(Plan& p, int a, int b) {
  std::swap(p.size[a], p.size[b]), std::swap(p.to[a], p.to[b]), std::swap(p.from[a], p.from[b]);
}

/// Offsets of positions in dimensions [first, dims), one after the other from `i`.
class OuterWalk {
 public:
  int64_t to = 0, from = 0;
  OuterWalk(const Plan& p, int first, int64_t i) : p_(p), first_(first) {
    for (int d = first; d < p.dims; ++d) {
      at_[d] = i % p.size[d], i /= p.size[d];
      to += at_[d] * p.to[d], from += at_[d] * p.from[d];
    }
  }
  void next() {
    for (int d = first_; d < p_.dims; ++d) {
      to += p_.to[d], from += p_.from[d];
      if (++at_[d] < p_.size[d]) return;
      to -= p_.size[d] * p_.to[d], from -= p_.size[d] * p_.from[d];
      at_[d] = 0;
    }
  }

 private:
  const Plan& p_;
  int first_;
  int64_t at_[64];
};

void copy_transposed(const Plan& p, char* to, const char* from, int64_t itemsize) {
  // Work items: strips of kTransposeTile rows of dimension 1, in every position of the outer dimensions.
  const int64_t strips = (p.size[1] + kTransposeTile - 1) / kTransposeTile;
  int64_t outer = 1;
  for (int d = 2; d < p.dims; ++d) outer *= p.size[d];
  const int64_t grain = std::max<int64_t>(1, kGrain / (p.size[0] * std::min(kTransposeTile, p.size[1])));
  parallel_for(0, outer * strips, grain, [&](int64_t begin, int64_t end) {
    int64_t strip = begin % strips;
    OuterWalk walk(p, 2, begin / strips);
    for (int64_t w = begin; w < end; ++w) {
      const int64_t j = strip * kTransposeTile;
      transpose_any(itemsize, to + walk.to, p.to[1], from + walk.from, p.from[0], p.size[0], j,
                    std::min(j + kTransposeTile, p.size[1]));
      if (++strip == strips) strip = 0, walk.next();
    }
  });
}

void copy_rows(const Plan& p, char* to, char* from, ConvertRows move) {
  const int64_t n0 = p.size[0], n1 = p.dims > 1 ? p.size[1] : 1;
  const int64_t t1 = p.dims > 1 ? p.to[1] : 0, f1 = p.dims > 1 ? p.from[1] : 0;
  int64_t outer = 1;
  for (int d = 2; d < p.dims; ++d) outer *= p.size[d];
  if (outer == 1 && n1 == 1) {
    return parallel_for(0, n0, kGrain, [&](int64_t b, int64_t e) {
      move({to + b * p.to[0], p.to[0], 0}, {from + b * p.from[0], p.from[0], 0}, {e - b, 1});
    });
  }
  // Items: rows of dimension 0; runs of neighbouring rows go in one call.
  parallel_for(0, outer * n1, std::max<int64_t>(1, kGrain / n0), [&](int64_t b, int64_t e) {
    int64_t j = b % n1;
    for (OuterWalk outer(p, 2, b / n1); b < e; outer.next(), j = 0) {
      const int64_t m = std::min(n1 - j, e - b);
      move({to + outer.to + j * t1, p.to[0], t1}, {from + outer.from + j * f1, p.from[0], f1}, {n0, m});
      b += m;
    }
  });
}

constexpr int64_t kPicked = 256;  // elements at most that a block of picked ones has

/// How many inner dimensions, of short rows each, make one block that lies together in `to`; 0 where rows are long.
int picked_dims(const Plan& p, int64_t itemsize, bool same) {
  if (!same || p.dims < 3 || p.size[0] * p.size[1] >= 64 || (p.from[0] == itemsize && p.size[0] >= 8)) return 0;
  int64_t count = 1;
  int d = 0;
  for (; d < p.dims && p.to[d] == count * itemsize && count * p.size[d] <= kPicked; ++d) count *= p.size[d];
  return d > 2 ? d : 0;
}

template <class T>
void pick(char* to, const char* from, const int64_t* at, int64_t count) {
  for (int64_t i = 0; i < count; ++i) reinterpret_cast<T*>(to)[i] = *reinterpret_cast<const T*>(from + at[i]);
}
void pick_any(int64_t itemsize, char* to, const char* from, const int64_t* at, int64_t count) {
  switch (itemsize) {
    case 1:
      return pick<uint8_t>(to, from, at, count);
    case 2:
      return pick<uint16_t>(to, from, at, count);
    case 4:
      return pick<uint32_t>(to, from, at, count);
    case 8:
      return pick<uint64_t>(to, from, at, count);
    default:
      return pick<Complex<double>>(to, from, at, count);
  }
}

/// Blocks of the inner dimensions, whose elements are found by one table: a row of few would cost more than they do.
void copy_picked(const Plan& p, int inner, char* to, const char* from, int64_t itemsize) {
  int64_t at[kPicked], count = 1, outer = 1;
  at[0] = 0;
  for (int d = 0; d < inner; ++d) {
    for (int64_t i = 1; i < p.size[d]; ++i)
      for (int64_t k = 0; k < count; ++k) at[i * count + k] = at[k] + i * p.from[d];
    count *= p.size[d];
  }
  for (int d = inner; d < p.dims; ++d) outer *= p.size[d];
  parallel_for(0, outer, std::max<int64_t>(1, kGrain / count), [&](int64_t b, int64_t e) {
    for (OuterWalk walk(p, inner, b); b < e; ++b, walk.next())
      pick_any(itemsize, to + walk.to, from + walk.from, at, count);
  });
}

Plan plan_of(const Loop& loop) {
  Plan p;
  p.dims = static_cast<int>(loop.sizes.size());
  HB_CHECK(p.dims <= 64, "[copy_] expected at most 64 dimensions, got ", p.dims);
  for (int d = 0; d < p.dims; ++d) {
    p.size[d] = loop.sizes[d];
    p.to[d] = loop.op[0].strides[d];
    p.from[d] = loop.operands > 1 ? loop.op[1].strides[d] : 0;
  }
  if (p.dims == 0) p.dims = 1, p.size[0] = 1, p.to[0] = p.from[0] = 0;
  return p;
}

void copy(const Loop& loop) {
  if (loop.numel == 0) return;
  Plan p = plan_of(loop);
  const bool same = loop.op[0].dtype == loop.op[1].dtype;
  const auto itemsize = static_cast<int64_t>(element_size(loop.op[0].dtype));
  const int d = transposed_dim(p, itemsize, same);
  if (d > 0) {
    swap_dims(p, 1, d);
    return copy_transposed(p, loop.op[0].data, loop.op[1].data, itemsize);
  }
  if (const int inner = picked_dims(p, itemsize, same)) {
    return copy_picked(p, inner, loop.op[0].data, loop.op[1].data, itemsize);
  }
  // Elements that lie apart in either go in the longer loop.
  const bool dense = p.to[0] == itemsize && p.from[0] == static_cast<int64_t>(element_size(loop.op[1].dtype));
  if (!dense && p.dims > 1 && p.size[0] < 8 && p.size[1] > p.size[0]) swap_dims(p, 0, 1);
  copy_rows(p, loop.op[0].data, loop.op[1].data, convert_rows(loop.op[0].dtype, loop.op[1].dtype));
}

/// Threads share the elements of all pieces, one behind the other.
void copy_pieces(size_t size, ArrayRef<PieceCopy> pieces) {
  int64_t total = 0;
  for (const PieceCopy& p : pieces) total += p.count;
  parallel_for(0, total, kGrain, [&](int64_t begin, int64_t end) {
    int64_t at = 0;  // where the piece begins
    for (const PieceCopy& p : pieces) {
      const int64_t from = std::max(begin, at) - at, to = std::min(end, at + p.count) - at;
      if (from < to)
        copy_bytes(static_cast<char*>(p.out) + from * size, static_cast<const char*>(p.in) + from * size,
                   (to - from) * size);
      at += p.count;
    }
  });
}

void fill(const Loop& loop, const Scalar& value) {
  if (loop.numel == 0) return;
  const Plan p = plan_of(loop);
  double d = 0;
  uint64_t i = 0;  // the bits of an int64 too
  Complex<double> z;
  char* number;
  ScalarType kind;
  if (value.isComplex() && is_complex_type(loop.op[0].dtype)) {
    z = value.toComplexDouble(), number = reinterpret_cast<char*>(&z), kind = kComplexDouble;
  } else if (value.isFloatingPoint() || value.isComplex()) {
    d = value.toDouble(), number = reinterpret_cast<char*>(&d), kind = kDouble;
  } else {
    i = value.toUInt64(), number = reinterpret_cast<char*>(&i), kind = value.type() == kUInt64 ? kUInt64 : kLong;
  }
  // Converted once; then every element is a copy.
  alignas(16) char element[16];
  convert_rows(loop.op[0].dtype, kind)({element, 0, 0}, {number, 0, 0}, {1, 1});
  copy_rows(p, loop.op[0].data, element, convert_rows(loop.op[0].dtype, loop.op[0].dtype));
}

HB_REGISTER_ISA(copy_kernel, copy);
HB_REGISTER_ISA(copy_pieces_kernel, copy_pieces);
HB_REGISTER_ISA(fill_kernel, fill);

}  // namespace
}  // namespace hb::cpu::HB_ISA
