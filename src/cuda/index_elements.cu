// Elements picked or written by an index for each: gather and scatter.
#include "cuda/half_sums.h"
#include "cuda/kernel_file.h"
#include "cuda/put.h"
#include "cuda/several.h"
#include "cuda/walk.h"
#include "cuda/words.h"
#include "formulas/compared.h"

namespace hb::cuda {
namespace {

constexpr int kMostIndexed = 16;  // dimensions

template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().raw_data());
}

/// A dimension of the index and of the two others; strides in elements.
struct IndexedDim {
  int64_t size, indexed, index, other;
  bool goes_on_in(const IndexedDim& inner) const {
    return indexed == inner.indexed * inner.size && index == inner.index * inner.size &&
           other == inner.other * inner.size;
  }
};

/// The dimensions of an index; the indexed one is told apart.
struct IndexedDims {
  int dims = 0;
  IndexedDim dim[kMostIndexed];
  IndexedDim along{1, 0, 0, 0};  // the indexed one
  int at = 0;                    // its place among the others
  int64_t limit = 1;             // the size of what is indexed
  IndexedDims(const char* name, const Tensor& indexed, const Tensor& index, const Tensor& other, int64_t d) {
    const DimVector& n = index.impl().sizes();
    HB_CHECK(n.size() <= kMostIndexed, "[", name, "] expected at most ", kMostIndexed, " dimensions on CUDA, got ",
             n.size());
    if (n.empty()) {  // one element
      if (indexed.dim() > 0) along.indexed = indexed.impl().physical_strides()[0], limit = indexed.numel();
      return;
    }
    for (size_t k = 0; k < n.size(); ++k) {
      const IndexedDim one{n[k], indexed.impl().physical_strides()[k], index.impl().physical_strides()[k],
                           other.impl().physical_strides()[k]};
      if (static_cast<int64_t>(k) == d)
        along = one, at = dims, limit = indexed.impl().sizes()[k];
      else
        dim[dims++] = one;
    }
  }
};

/// Columns whose rows are indexed are taken in strips where not all of them stay in a GPU's cache. Returns how many
/// dimensions there are then.
int in_strips(IndexedDim (&dim)[kMostIndexed], int dims, int64_t rows, int64_t bytes) {
  constexpr int64_t kCached = int64_t{16} << 20, kNarrowest = 64;
  if (dims < 2 || dims == kMostIndexed || dim[dims - 2].indexed != 0) return dims;
  IndexedDim& columns = dim[dims - 1];
  int64_t width = columns.size;
  if (rows * width * bytes <= 2 * kCached) return dims;
  while (width % 2 == 0 && width / 2 >= kNarrowest && rows * width * bytes > kCached) width /= 2;
  if (width == columns.size) return dims;
  const IndexedDim strips{columns.size / width, columns.indexed * width, columns.index * width, columns.other * width};
  columns.size = width;
  dim[dims] = columns, dim[dims - 1] = dim[dims - 2], dim[dims - 2] = strips;
  return dims + 1;
}

/// Where the operands' elements are, in the order of the index or of its strips.
struct IndexedElements {
  const int64_t* index;
  int64_t n = 1, along, limit;
  int dims = 0;
  Splitter size[kMostIndexed];  // the last one first
  int64_t indexed[kMostIndexed], of_index[kMostIndexed], other[kMostIndexed];
  Reporter report;

  /// bytes: of an element of what is indexed.
  IndexedElements(const IndexedDims& from, const char* name, const Tensor& at, int64_t d, int64_t bytes)
      : index(data<const int64_t>(at)),
        along(from.along.indexed),
        limit(from.limit),
        report(reporter(name, kBadElement, d)) {
    IndexedDim merged[kMostIndexed];
    const auto add = [&](IndexedDim one) {
      n *= one.size;
      if (one.size == 1) return;
      if (dims > 0 && merged[dims - 1].goes_on_in(one)) one.size *= merged[--dims].size;
      merged[dims++] = one;
    };
    for (int k = 0; k <= from.dims; ++k) {
      if (k == from.at) add({from.along.size, 0, from.along.index, from.along.other});
      if (k < from.dims) add(from.dim[k]);
    }
    dims = in_strips(merged, dims, limit, bytes);
    for (int k = 0; k < dims; ++k) {
      const IndexedDim& one = merged[dims - 1 - k];
      size[k] = Splitter(one.size, n), indexed[k] = one.indexed, of_index[k] = one.index, other[k] = one.other;
    }
  }
  /// Where element i is in what is indexed, -1 where its index is bad, and in the other one.
  __device__ int64_t place(int64_t i, int64_t* in_other) const {
    int64_t in_indexed = 0, in_index = 0;
    *in_other = 0;
    for (int d = 0; d < dims; ++d) {
      const int64_t k = d + 1 < dims ? size[d].split(i) : i;
      in_indexed += k * indexed[d], in_index += k * of_index[d], *in_other += k * other[d];
    }
    const int64_t row = index[in_index];
    return index_is_good(row, limit, report) ? in_indexed + row * along : -1;
  }
};

template <class Word>
__global__ void gather_elements(Word* out, const Word* in, HB_ARGUMENT(IndexedElements) w) {
  const Several s(w.n);
  for (int64_t first = s.first; first < w.n; first += s.round) {
    int64_t from[kSeveral], to[kSeveral];
    Word word[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) from[e] = first + e * s.step < w.n ? w.place(first + e * s.step, &to[e]) : -1;
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) word[e] = from[e] >= 0 ? in[from[e]] : Word{};
#pragma unroll
    for (int e = 0; e < kSeveral; ++e)
      if (first + e * s.step < w.n) out[to[e]] = word[e];
  }
}
void gather(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, int64_t dim) {
  if (index.numel() == 0) return;
  const auto bytes = static_cast<int64_t>(in.impl().itemsize());
  const IndexedElements w(IndexedDims(name, in, index, out, dim), name, index, dim, bytes);
  with_word(in.impl().itemsize(), [&](auto word) {
    using Word = decltype(word);
    HB_LAUNCH(gather_elements<Word>, blocks_for_several(w.n), kThreads, 0, current_stream(), data<Word>(out),
              data<const Word>(in), w);
  });
}

/// `columns` columns of the indexed dimension.
struct Columns {
  const int64_t* index;
  IndexedDims of;
  int64_t columns = 1;
  Reporter report;
  Columns(const IndexedDims& dims, const char* name, const Tensor& at, int64_t d)
      : index(data<const int64_t>(at)), of(dims), report(reporter(name, kBadElement, d)) {
    for (int k = 0; k < of.dims; ++k) columns *= of.dim[k].size;
  }
};

// A thread for each column: it takes the elements in their order.
template <class T, PutOp op>
__global__ void scatter_columns(T* out, const T* src, HB_ARGUMENT(Columns) w) {
  HB_GRID_LOOP(column, w.columns) {
    int64_t to = 0, at = 0, from = 0, c = column;
    for (int d = w.of.dims - 1; d >= 0; --d) {
      const IndexedDim& dim = w.of.dim[d];
      const int64_t i = c % dim.size;
      c /= dim.size;
      to += i * dim.indexed, at += i * dim.index, from += i * dim.other;
    }
    for (int64_t k = 0; k < w.of.along.size; ++k) {
      const int64_t row = w.index[at + k * w.of.along.index];
      if (!index_is_good(row, w.of.limit, w.report)) continue;
      T& place = out[to + row * w.of.along.indexed];
      place = combined<op>(place, src[from + k * w.of.along.other]);
    }
  }
}

/// Whether all lanes of the warp have the same.
__device__ inline bool one_place(int64_t place) {
  return __all_sync(kFullWarp, place == __shfl_sync(kFullWarp, place, 0));
}
/// What a warp adds to one place is one addition: many to a place would wait for each other.
template <class To>
__device__ inline void add_together(To* to, int64_t place, To value) {
  for (int lanes = kWarp / 2; lanes; lanes /= 2)
    value = static_cast<To>(value + __shfl_xor_sync(kFullWarp, value, lanes));
  if (place >= 0 && threadIdx.x % kWarp == 0) put_together<PutOp::add>(to + place, value);
}

// `to` has the elements that are indexed, in what they are summed in.
template <class To, class T, PutOp op>
__global__ void scatter_elements(To* to, const T* src, HB_ARGUMENT(IndexedElements) w) {
  constexpr bool kAddsTogether = op == PutOp::add && std::is_arithmetic_v<To> && sizeof(To) >= 4;
  const Several s(w.n);
  const int64_t lane = threadIdx.x % kWarp;
  for (int64_t first = s.first; first - lane < w.n; first += s.round) {  // all lanes of a warp stay
    int64_t place[kSeveral], from[kSeveral];
    T value[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      place[e] = first + e * s.step < w.n ? w.place(first + e * s.step, &from[e]) : -1;
      value[e] = place[e] >= 0 ? src[from[e]] : T{};
    }
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      if constexpr (kAddsTogether) {
        if (one_place(place[e])) {
          add_together(to, place[e], static_cast<To>(value[e]));
          continue;
        }
      }
      if (place[e] >= 0) put_together<op>(to + place[e], static_cast<To>(value[e]));
    }
  }
}
template <class To, class T, PutOp op>
void scatter_by_elements(To* to, const Tensor& src, const IndexedElements& w) {
  HB_LAUNCH((scatter_elements<To, T, op>), blocks_for_several(w.n), kThreads, 0, current_stream(), to,
            data<const T>(src), w);
}

/// Whether its elements are one after the other in memory, in whatever order.
bool is_dense(const Tensor& t) {
  int64_t last = 0;
  for (size_t d = 0; d < t.impl().sizes().size(); ++d) {
    const int64_t stride = t.impl().physical_strides()[d];
    if (stride < 0) return false;
    last += (t.impl().sizes()[d] - 1) * stride;
  }
  return last + 1 == t.numel();
}

template <class T, PutOp op>
void scatter_as(const char* name, const Tensor& out, const Tensor& index, const Tensor& src, int64_t dim) {
  const IndexedDims dims(name, out, index, src, dim);
  if (!puts_together<T> || (op != PutOp::assign && in_fixed_order())) {
    const Columns w(dims, name, index, dim);
    HB_LAUNCH((scatter_columns<T, op>), blocks_for(w.columns), kThreads, 0, current_stream(), data<T>(out),
              data<const T>(src), w);
    return;
  }
  if constexpr (is_half_v<T> && op == PutOp::add) {
    if (HalfSums<T>::worthwhile(out.numel(), index.numel()) && is_dense(out)) {
      const IndexedElements w(dims, name, index, dim, sizeof(float));
      const HalfSums<T> sums(data<T>(out), out.numel());
      scatter_by_elements<float, T, op>(sums.get(), src, w);
      return sums.finish();
    }
  }
  const IndexedElements w(dims, name, index, dim, sizeof(T));
  if constexpr (puts_together<T>) scatter_by_elements<T, T, op>(data<T>(out), src, w);
}
void scatter(const char* name, const Tensor& out, const Tensor& index, const Tensor& src, int64_t dim, PutOp op) {
  if (index.numel() == 0) return;
  check_order(name, out.scalar_type(), op);
  with_dtype(name, out.scalar_type(), [&](auto type) {
    with_put(op, [&](auto put) { scatter_as<decltype(type), decltype(put)::value>(name, out, index, src, dim); });
  });
}

HB_REGISTER_CUDA(gather_kernel, gather);
HB_REGISTER_CUDA(scatter_kernel, scatter);

}  // namespace
}  // namespace hb::cuda
