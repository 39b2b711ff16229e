// gather and scatter: an index for every element.
#include <array>

#include "cpu/isa/put.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Where elements of an operand stand: strides in elements; along the indexed dimension only an index counts.
struct Operand {
  DimVector strides;
  int64_t last() const { return strides.back(); }
};

Operand operand(const Tensor& t) {
  Operand x{t.impl().physical_strides()};
  if (x.strides.empty()) x.strides.push_back(1);
  return x;
}

/// The operand that is indexed along a dimension.
struct Indexed {
  Operand others;  // stride 0 along the dimension
  int64_t along, size, dim;
  Indexed(const Tensor& t, int64_t d) : others(operand(t)), dim(d) {
    along = others.strides[dim], others.strides[dim] = 0;
    size = t.dim() ? t.impl().sizes()[dim] : 1;
  }
};

/// The rows of an index tensor: its last dimension, in every position of the others.
struct Pass {
  DimVector sizes;
  int64_t last, rows = 1;
  explicit Pass(DimVector index_sizes) : sizes(std::move(index_sizes)) {
    if (sizes.empty()) sizes.push_back(1);
    last = sizes.back();
    for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  }
};

/// Offsets of three operands at rows of a pass, one row after the other.
class RowWalk {
 public:
  std::array<int64_t, 3> offset{};
  RowWalk(const Pass& p, std::array<const Operand*, 3> operands, int64_t row) : pass_(p), operands_(operands) {
    for (size_t d = p.sizes.size() - 1; d-- > 0; row /= p.sizes[d]) {
      at_[d] = row % p.sizes[d];
      for (size_t k = 0; k < 3; ++k) offset[k] += at_[d] * operands[k]->strides[d];
    }
  }
  void next() {
    for (size_t d = at_.size(); d-- > 0;) {
      const bool carry = ++at_[d] == pass_.sizes[d];
      for (size_t k = 0; k < 3; ++k) {
        const int64_t stride = operands_[k]->strides[d];
        offset[k] += carry ? stride * (1 - at_[d]) : stride;
      }
      if (!carry) return;
      at_[d] = 0;
    }
  }

 private:
  const Pass& pass_;
  std::array<const Operand*, 3> operands_;
  DimVector at_ = DimVector(pass_.sizes.size() - 1, 0);
};

template <class T>
void gather_row(T* to, const T* from, const int64_t* at, int64_t step, int64_t n, int64_t along, int64_t last) {
  if (step == 0) {  // one index for all
    from += at[0] * along;
    if (last == 1) return copy_bytes(to, from, n * sizeof(T));
    for (int64_t k = 0; k < n; ++k) to[k] = from[k * last];
  } else if (step == 1 && along == 1 && last == 0) {
#pragma GCC unroll 4
    for (int64_t k = 0; k < n; ++k) to[k] = from[at[k]];
  } else {
    for (int64_t k = 0; k < n; ++k) to[k] = from[at[k * step] * along + k * last];
  }
}

/// Asks for rows that are to be read, or changed, in any order, where they lie in no near cache: the CPU sees no
/// pattern to follow.
template <class T>
class RowFetch {
 public:
  RowFetch(const Pass& p, const Indexed& x) : size_(x.size) {
    const int64_t bytes = x.size * static_cast<int64_t>(sizeof(T));
    wanted_ =
        x.along == 1 && x.others.last() == 0 && bytes <= 16384 && bytes * p.rows >= (1 << 20) && 4 * p.last >= x.size;
  }
  void operator()(const T* row) const {
    constexpr int64_t line = 64 / sizeof(T);
    for (int64_t i = 0; wanted_ && i < size_; i += line) __builtin_prefetch(row + i);
  }

 private:
  int64_t size_;
  bool wanted_;
};

int64_t row_grain(const Pass& p) { return std::max<int64_t>(1, kGrain / (4 * std::max<int64_t>(1, p.last))); }

template <class T>
void gather_of(const char* name, T* out, const T* in, const int64_t* index, const Pass& p, const Indexed& x,
               const Operand& at) {
  const int64_t step = p.last == 1 ? 0 : at.last();
  const RowFetch<T> fetch(p, x);
  parallel_for(0, p.rows, row_grain(p), [&](int64_t b, int64_t e) {
    RowWalk walk(p, {&x.others, &at, &at}, b);
    for (int64_t r = b; r < e; ++r, walk.next()) {
      const int64_t* here = index + walk.offset[1];
      fetch(in + walk.offset[0]);
      check_indices(name, here, step, step == 0 ? 1 : p.last, x.size, x.dim);
      gather_row(out + r * p.last, in + walk.offset[0], here, step, p.last, x.along, x.others.last());
    }
  });
}

void gather(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, int64_t dim) {
  if (index.numel() == 0) return;
  const Pass p(index.impl().sizes());
  const Indexed x(in, dim);
  const Operand where = operand(index);
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  void *to = out.impl().raw_data(), *from = in.impl().raw_data();
  switch (in.impl().itemsize()) {
    case 1:
      return gather_of(name, static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), at, p, x, where);
    case 2:
      return gather_of(name, static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from), at, p, x, where);
    case 4:
      return gather_of(name, static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), at, p, x, where);
    case 8:
      return gather_of(name, static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from), at, p, x, where);
    default:
      return gather_of(name, static_cast<Complex<double>*>(to), static_cast<const Complex<double>*>(from), at, p, x,
                       where);
  }
}

/// Columns [b, e) of rows [from_row, to_row).
struct Part {
  int64_t from_row, to_row, b, e;
};

template <class T>
void scatter_part(T* out, const int64_t* index, const T* src, const Pass& p, const Indexed& x, const Operand& at,
                  const Operand& from, PutOp op, Part part) {
  const int64_t step = p.last == 1 ? 0 : at.last(), last = x.others.last(), every = from.last(), along = x.along;
  const bool whole_rows = step == 0 && (last == 1 || p.last == 1) && (every == 1 || p.last == 1);
  RowWalk walk(p, {&x.others, &at, &from}, part.from_row);
  const RowFetch<T> fetch(p, x);
  with_put<T>(op, [&](auto put) {
    for (int64_t r = part.from_row; r < part.to_row; ++r, walk.next()) {
      const int64_t* here = index + walk.offset[1];
      T* to = out + walk.offset[0];
      fetch(to);
      const T* s = src + walk.offset[2];
      if (whole_rows && part.e - part.b > 1) {
        put_row(to + here[0] * along + part.b, s + part.b, part.e - part.b, op);
      } else if (step == 1 && every == 1 && along == 1 && last == 0) {
        if constexpr (std::is_same_v<T, BFloat16>)
          if (adds_at<T>(op, x.size, part.e - part.b) && add_at(to, x.size, s + part.b, here + part.b, part.e - part.b))
            continue;
#pragma GCC unroll 4
        for (int64_t k = part.b; k < part.e; ++k) put(to[here[k]], s[k]);
      } else {
        for (int64_t k = part.b; k < part.e; ++k) put(to[here[k * step] * along + k * last], s[k * every]);
      }
    }
  });
}

/// Indices of a row may meet in one place: along the last dimension rows are independent, else columns.
template <class T>
void scatter_of(T* out, const int64_t* index, const T* src, const Pass& p, const Indexed& x, const Operand& at,
                const Operand& from, PutOp op, bool along_last) {
  if (along_last)
    return parallel_for(0, p.rows, row_grain(p), [&](int64_t b, int64_t e) {
      scatter_part(out, index, src, p, x, at, from, op, {b, e, 0, p.last});
    });
  parallel_for(0, p.last, std::max<int64_t>(16, kGrain / (4 * p.rows)), [&](int64_t b, int64_t e) {
    scatter_part(out, index, src, p, x, at, from, op, {0, p.rows, b, e});
  });
}

/// The dimension along which indices are neighbours in memory, where they are not along the last one.
size_t dim_of_neighbours(const Operand& index, const DimVector& sizes) {
  const size_t last = index.strides.size() - 1;
  if (sizes.empty() || sizes[last] == 1 || index.last() <= 1) return last;
  for (size_t d = 0; d < last; ++d)
    if (sizes[d] > 1 && index.strides[d] == 1) return d;
  return last;
}

void scatter(const char* name, const Tensor& out, const Tensor& index, const Tensor& src, int64_t dim, PutOp op) {
  if (index.numel() == 0) return;
  check_order(name, out.scalar_type(), op);
  Indexed x(out, dim);
  Operand where = operand(index), from = operand(src);
  DimVector sizes = index.impl().sizes();
  // Rows go along neighbours; what is written to one place keeps its order.
  const size_t row_dim = dim_of_neighbours(where, sizes);
  for (DimVector* v : {&sizes, &x.others.strides, &where.strides, &from.strides})
    if (!sizes.empty()) std::swap((*v)[row_dim], v->back());
  const Pass p(sizes);
  const auto* at = static_cast<const int64_t*>(index.impl().raw_data());
  const int64_t step = p.last == 1 ? 0 : where.last();
  RowWalk walk(p, {&x.others, &where, &from}, 0);
  for (int64_t r = 0; r < p.rows; ++r, walk.next())
    check_indices(name, at + walk.offset[1], step, step == 0 ? 1 : p.last, x.size, x.dim);
  const bool along_last = dim == static_cast<int64_t>(row_dim);
  switch (moved_type(out.scalar_type())) {
#define HB_CASE(T, Name)                                                                                              \
  case ScalarType::Name:                                                                                              \
    return scatter_of(static_cast<T*>(out.impl().raw_data()), at, static_cast<const T*>(src.impl().raw_data()), p, x, \
                      where, from, op, along_last);
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", out.scalar_type());
  }
}

HB_REGISTER_ISA(gather_kernel, gather);
HB_REGISTER_ISA(scatter_kernel, scatter);

}  // namespace
}  // namespace hb::cpu::HB_ISA
