// Rows and elements picked or written by index.
#include "backend/indexing.h"

#include "cuda/kernel_file.h"
#include "cuda/put.h"
#include "cuda/words.h"
#include "formulas/compared.h"

namespace hb::cuda {
namespace {

template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().raw_data());
}

/// What is said of a bad index, in the CPU's words.
constexpr const char *kBadElement = "index {value} is out of bounds for dimension {dim} with size {limit}",
                     *kBadRow =
                         "index out of range in self: index {value} is out of bounds for a dimension of size {limit}",
                     *kBadPlace = "out of range: tried to access index {value} on a tensor of {limit} elements.";

__global__ void wrap(int64_t* out, const int64_t* index, int64_t n, int64_t size, bool check, Reporter report) {
  HB_GRID_LOOP(i, n) {
    const int64_t at = index[i];
    if (check && (at < -size || at >= size)) {
      report.out_of_range(at, size);
      out[i] = 0;
    } else {
      out[i] = at < 0 ? at + size : at;
    }
  }
}
void wrap_index(const Tensor& out, const Tensor& index, int64_t size, const char* name, int64_t dim) {
  const int64_t n = index.numel();
  if (n > 0)
    HB_LAUNCH(wrap, blocks_for(n), kThreads, 0, current_stream(), data<int64_t>(out), data<const int64_t>(index), n,
              size, name != nullptr, reporter(name, dim < 0 ? kBadPlace : kBadElement, dim));
}

// Rows of `width` words, `count` of each of `outer` blocks of `rows`.
template <class Word>
__global__ void pick_rows(Word* out, const Word* in, const int64_t* index, int64_t n, int64_t count, int64_t rows,
                          int64_t width, Reporter report) {
  HB_GRID_LOOP(i, n) {
    const int64_t k = i / width % count, o = i / width / count, row = index[k];
    const bool good = index_is_good(row, rows, report);
    store_vector(out + i, good ? load_vector<Word>(in + (o * rows + row) * width + i % width) : Word{});
  }
}
template <class Word>
void pick_rows_by(const char* name, void* out, const void* in, const int64_t* index, int64_t count, const Lines& l,
                  int64_t bytes) {
  const int64_t width = bytes / static_cast<int64_t>(sizeof(Word)), n = l.outer * count * width;
  HB_LAUNCH(pick_rows<Word>, blocks_for(n), kThreads, 0, current_stream(), static_cast<Word*>(out),
            static_cast<const Word*>(in), index, n, count, l.n, width, reporter(name, kBadRow));
}
void select_rows(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, Lines l) {
  const int64_t count = index.numel(), bytes = l.inner * static_cast<int64_t>(in.impl().itemsize());
  if (l.outer * count * bytes == 0) return;
  void *to = out.impl().visible_data(), *from = in.impl().visible_data();
  const auto* at = data<const int64_t>(index);
  const auto alike =
      reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | static_cast<uintptr_t>(bytes);
  if (alike % 16 == 0) return pick_rows_by<uint4>(name, to, from, at, count, l, bytes);
  if (alike % 8 == 0) return pick_rows_by<uint64_t>(name, to, from, at, count, l, bytes);
  if (alike % 4 == 0) return pick_rows_by<uint32_t>(name, to, from, at, count, l, bytes);
  if (alike % 2 == 0) return pick_rows_by<uint16_t>(name, to, from, at, count, l, bytes);
  pick_rows_by<uint8_t>(name, to, from, at, count, l, bytes);
}

// A thread for each column: it takes the rows in their order, so that sums do not depend on the launch.
template <class T, PutOp op>
__global__ void put_columns(T* out, const T* in, const int64_t* index, int64_t outer, int64_t count, int64_t rows,
                            int64_t inner, Reporter report) {
  HB_GRID_LOOP(i, outer * inner) {
    const int64_t o = i / inner, c = i % inner;
    for (int64_t k = 0; k < count; ++k) {
      if (!index_is_good(index[k], rows, report)) continue;
      T& to = out[(o * rows + index[k]) * inner + c];
      to = combined<op>(to, in[(o * count + k) * inner + c]);
    }
  }
}
template <class T, PutOp op>
__global__ void put_elements(T* out, const T* in, const int64_t* index, int64_t n, int64_t count, int64_t rows,
                             int64_t inner, Reporter report) {
  HB_GRID_LOOP(i, n) {
    const int64_t c = i % inner, k = i / inner % count, o = i / inner / count;
    if (index_is_good(index[k], rows, report)) put_together<op>(out + (o * rows + index[k]) * inner + c, in[i]);
  }
}

/// Whether there are so many columns that each may have one thread, or so few elements in one that it matters little.
/// Halves are rounded at each sum: their order is kept longer.
template <class T>
bool by_columns(int64_t columns, int64_t count) {
  return columns >= 4096 || count <= (is_half_v<T> ? 1024 : 32);
}

void check_order(const char* name, ScalarType t, PutOp op) {
  if (is_complex_type(t) && (op == PutOp::max || op == PutOp::min))
    HB_NOT_SUPPORTED("[", name, "] complex numbers have no order: not supported for dtype ", t);
  if (is_wide_unsigned_type(t) && op != PutOp::assign && op != PutOp::add && op != PutOp::multiply)
    HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", t, ": convert it with to(torch::kLong)");
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

void put_rows(const char* name, const Tensor& out, const Tensor& index, const Tensor& in, Lines l, PutOp op) {
  check_order(name, out.scalar_type(), op);
  const int64_t count = index.numel(), n = l.outer * count * l.inner;
  if (n == 0) return;
  const auto* at = data<const int64_t>(index);
  with_dtype(name, out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    T* const to = static_cast<T*>(out.impl().visible_data());
    const T* const from = static_cast<const T*>(in.impl().visible_data());
    with_put(op, [&](auto put) {
      constexpr PutOp kOp = decltype(put)::value;
      if (!puts_together<T> || (kOp != PutOp::assign && by_columns<T>(l.outer * l.inner, count)))
        HB_LAUNCH((put_columns<T, kOp>), blocks_for(l.outer * l.inner), kThreads, 0, current_stream(), to, from, at,
                  l.outer, count, l.n, l.inner, reporter(name, kBadRow));
      else
        HB_LAUNCH((put_elements<T, kOp>), blocks_for(n), kThreads, 0, current_stream(), to, from, at, n, count, l.n,
                  l.inner, reporter(name, kBadRow));
    });
  });
}

/// Places of three operands, strides in elements. The indexed dimension is the last.
struct Walk {
  static constexpr int kMost = 16;
  int dims = 0;
  int64_t sizes[kMost], indexed[kMost], index[kMost], other[kMost];
  int64_t columns = 1, count = 1, along = 0, size = 1;

  Walk(const char* name, const Tensor& indexed_one, const Tensor& at, const Tensor& other_one, int64_t dim) {
    const DimVector& n = at.impl().sizes();
    HB_CHECK(n.size() <= kMost, "[", name, "] expected at most ", kMost, " dimensions on CUDA, got ", n.size());
    const auto add = [&](size_t d) {
      sizes[dims] = n[d], indexed[dims] = indexed_one.impl().physical_strides()[d];
      index[dims] = at.impl().physical_strides()[d], other[dims] = other_one.impl().physical_strides()[d];
      ++dims;
    };
    for (size_t d = 0; d < n.size(); ++d)
      if (static_cast<int64_t>(d) != dim) add(d), columns *= n[d];
    if (n.empty()) {  // one element
      sizes[0] = 1, indexed[0] = index[0] = other[0] = 0;
      dims = 1;
      if (indexed_one.dim() > 0) along = indexed_one.impl().physical_strides()[0], size = indexed_one.numel();
      return;
    }
    add(static_cast<size_t>(dim));
    count = n[static_cast<size_t>(dim)];
    along = indexed[dims - 1], size = indexed_one.impl().sizes()[static_cast<size_t>(dim)];
  }
  // Where column c begins; the indexed operand's place lacks its index.
  __device__ void begin(int64_t c, int64_t* of_indexed, int64_t* of_index, int64_t* of_other) const {
    *of_indexed = *of_index = *of_other = 0;
    for (int d = dims - 2; d >= 0; --d) {
      const int64_t i = c % sizes[d];
      c /= sizes[d];
      *of_indexed += i * indexed[d], *of_index += i * index[d], *of_other += i * other[d];
    }
  }
};

template <class Word>
__global__ void gather_elements(Word* out, const Word* in, const int64_t* index, __grid_constant__ const Walk w,
                                Reporter report) {
  HB_GRID_LOOP(i, w.columns * w.count) {
    const int64_t k = i % w.count;
    int64_t from, at, to;
    w.begin(i / w.count, &from, &at, &to);
    const int64_t row = index[at + k * w.index[w.dims - 1]];
    const bool good = index_is_good(row, w.size, report);
    out[to + k * w.other[w.dims - 1]] = good ? in[from + row * w.along] : Word{};
  }
}
template <class Word>
void gather_by(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, int64_t dim) {
  const Walk w(name, in, index, out, dim);
  HB_LAUNCH(gather_elements<Word>, blocks_for(w.columns * w.count), kThreads, 0, current_stream(), data<Word>(out),
            data<const Word>(in), data<const int64_t>(index), w, reporter(name, kBadElement, dim));
}
void gather(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, int64_t dim) {
  if (index.numel() == 0) return;
  with_word(in.impl().itemsize(), [&](auto word) { gather_by<decltype(word)>(name, out, in, index, dim); });
}

template <class T, PutOp op>
__global__ void scatter_columns(T* out, const T* src, const int64_t* index, __grid_constant__ const Walk w,
                                Reporter report) {
  HB_GRID_LOOP(c, w.columns) {
    int64_t to, at, from;
    w.begin(c, &to, &at, &from);
    for (int64_t k = 0; k < w.count; ++k) {
      const int64_t row = index[at + k * w.index[w.dims - 1]];
      if (!index_is_good(row, w.size, report)) continue;
      T& place = out[to + row * w.along];
      place = combined<op>(place, src[from + k * w.other[w.dims - 1]]);
    }
  }
}
template <class T, PutOp op>
__global__ void scatter_elements(T* out, const T* src, const int64_t* index, __grid_constant__ const Walk w,
                                 Reporter report) {
  HB_GRID_LOOP(i, w.columns * w.count) {
    const int64_t k = i % w.count;
    int64_t to, at, from;
    w.begin(i / w.count, &to, &at, &from);
    const int64_t row = index[at + k * w.index[w.dims - 1]];
    if (index_is_good(row, w.size, report))
      put_together<op>(out + to + row * w.along, src[from + k * w.other[w.dims - 1]]);
  }
}
void scatter(const char* name, const Tensor& out, const Tensor& index, const Tensor& src, int64_t dim, PutOp op) {
  if (index.numel() == 0) return;
  check_order(name, out.scalar_type(), op);
  const Walk w(name, out, index, src, dim);
  with_dtype(name, out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    with_put(op, [&](auto put) {
      constexpr PutOp kOp = decltype(put)::value;
      if (!puts_together<T> || (kOp != PutOp::assign && by_columns<T>(w.columns, w.count)))
        HB_LAUNCH((scatter_columns<T, kOp>), blocks_for(w.columns), kThreads, 0, current_stream(), data<T>(out),
                  data<const T>(src), data<const int64_t>(index), w, reporter(name, kBadElement, dim));
      else
        HB_LAUNCH((scatter_elements<T, kOp>), blocks_for(w.columns * w.count), kThreads, 0, current_stream(),
                  data<T>(out), data<const T>(src), data<const int64_t>(index), w, reporter(name, kBadElement, dim));
    });
  });
}

HB_REGISTER_CUDA(wrap_index_kernel, wrap_index);
HB_REGISTER_CUDA(select_rows_kernel, select_rows);
HB_REGISTER_CUDA(put_rows_kernel, put_rows);
HB_REGISTER_CUDA(gather_kernel, gather);
HB_REGISTER_CUDA(scatter_kernel, scatter);

}  // namespace
}  // namespace hb::cuda
