// Rows picked or written by index.
#include "cuda/half_sums.h"
#include "cuda/kernel_file.h"
#include "cuda/put.h"
#include "cuda/put_runs.h"
#include "cuda/several.h"
#include "cuda/walk.h"
#include "cuda/words.h"
#include "formulas/compared.h"

namespace hb::cuda {
namespace {

template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().raw_data());
}

/// What is said of a bad place, in the CPU's words.
constexpr const char* kBadPlace = "out of range: tried to access index {value} on a tensor of {limit} elements.";

// `before`: null, or places of the dimensions before this one.
__global__ void wrap(int64_t* out, const int64_t* index, const int64_t* before, int64_t n, int64_t size, bool check,
                     Reporter report) {
  const Several s(n);
  for (int64_t first = s.first; first < n; first += s.round) {
    int64_t at[kSeveral], outer[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      const int64_t i = first + e * s.step;
      at[e] = i < n ? index[i] : 0, outer[e] = before && i < n ? before[i] : 0;
    }
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      if (first + e * s.step >= n) continue;
      if (check && (at[e] < -size || at[e] >= size)) report.out_of_range(at[e], size), at[e] = 0;
      out[first + e * s.step] = outer[e] * size + (at[e] < 0 ? at[e] + size : at[e]);
    }
  }
}
void wrap_index(const Tensor& out, const Tensor& index, const Tensor& before, int64_t size, const char* name,
                int64_t dim) {
  const int64_t n = index.numel();
  if (n > 0)
    HB_LAUNCH(wrap, blocks_for_several(n), kThreads, 0, current_stream(), data<int64_t>(out),
              data<const int64_t>(index), before.defined() ? data<const int64_t>(before) : nullptr, n, size,
              name != nullptr, reporter(name, dim < 0 ? kBadPlace : kBadElement, dim));
}

/// The row of an index's place k; -1 where it is bad.
struct OneIndex {
  const int64_t* index;
  int64_t rows;
  Reporter report;
  OneIndex(const char* name, const Tensor& at, int64_t size)
      : index(data<const int64_t>(at)), rows(size), report(reporter(name, kBadRow)) {}
  __device__ int64_t operator()(int64_t k) const {
    const int64_t row = index[k];
    return index_is_good(row, rows, report) ? row : -1;
  }
};
/// The row in several dimensions, which have an index each.
struct SeveralIndices {
  int count;
  const int64_t* index[IndexedSizes::kMost];
  int64_t size[IndexedSizes::kMost];
  Reporter report[IndexedSizes::kMost];
  SeveralIndices(const char* name, const Tensor (&at)[IndexedSizes::kMost], const IndexedSizes& of) : count(of.count) {
    for (int d = 0; d < count; ++d) {
      index[d] = data<const int64_t>(at[d]), size[d] = of.size[d];
      report[d] = reporter(name, of.dim[d] < 0 ? kBadPlace : kBadElement, of.dim[d]);
    }
  }
  __device__ int64_t operator()(int64_t k) const {
    int64_t row = 0;
#pragma unroll
    for (int d = 0; d < IndexedSizes::kMost; ++d) {
      if (d >= count) break;
      const int64_t at = index[d][k];
      if (at < -size[d] || at >= size[d]) {
        report[d].out_of_range(at, size[d]);
        return -1;
      }
      row = row * size[d] + (at < 0 ? at + size[d] : at);
    }
    return row;
  }
};

/// Blocks of rows of which an index names some: element i of `outer` blocks of `count` rows of `width` elements belongs
/// to row row_of(k) of `rows` in its block.
template <class RowOf>
struct IndexedRows {
  RowOf row_of;
  int64_t n, rows, width;
  Splitter by_width, by_count;
  IndexedRows(const RowOf& of, int64_t count, const Lines& l, int64_t elements)
      : row_of(of),
        n(l.outer * count * elements),
        rows(l.n),
        width(elements),
        by_width(elements, n),
        by_count(count, n) {}
  // Where it is among the indexed rows; -1 where the index is bad.
  __device__ int64_t place(int64_t i) const {
    const int64_t c = by_width.split(i), k = by_count.split(i), row = row_of(k);
    return row >= 0 ? (i * rows + row) * width + c : -1;
  }
};

template <class Word, class RowOf>
__global__ void pick_rows(Word* out, const Word* in, HB_ARGUMENT(IndexedRows<RowOf>) r) {
  const Several s(r.n);
  for (int64_t first = s.first; first < r.n; first += s.round) {
    int64_t place[kSeveral];
    Word word[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) place[e] = first + e * s.step < r.n ? r.place(first + e * s.step) : -1;
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) word[e] = place[e] >= 0 ? load_vector<Word>(in + place[e]) : Word{};
#pragma unroll
    for (int e = 0; e < kSeveral; ++e)
      if (first + e * s.step < r.n) store_vector(out + first + e * s.step, word[e]);
  }
}
template <class Word>
__global__ void place_rows(Word* out, const Word* in, HB_ARGUMENT(IndexedRows<OneIndex>) r) {
  const Several s(r.n);
  for (int64_t first = s.first; first < r.n; first += s.round) {
    int64_t place[kSeveral];
    Word word[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      const bool there = first + e * s.step < r.n;
      place[e] = there ? r.place(first + e * s.step) : -1;
      word[e] = there ? load_vector<Word>(in + first + e * s.step) : Word{};
    }
#pragma unroll
    for (int e = 0; e < kSeveral; ++e)
      if (place[e] >= 0) store_vector(out + place[e], word[e]);
  }
}

/// Calls fn(Word()) with the largest word that rows of `bytes` bytes in both tensors are made of.
template <class F>
void with_row_word(const void* a, const void* b, int64_t bytes, const F& fn) {
  with_widest_word(reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | static_cast<uintptr_t>(bytes), fn);
}

template <class RowOf>
void pick_rows_by(const RowOf& row_of, int64_t count, const Tensor& out, const Tensor& in, const Lines& l) {
  const int64_t bytes = l.inner * static_cast<int64_t>(in.impl().itemsize());
  if (l.outer * count * bytes == 0) return;
  void *to = out.impl().visible_data(), *from = in.impl().visible_data();
  with_row_word(to, from, bytes, [&](auto word) {
    using Word = decltype(word);
    const IndexedRows<RowOf> rows(row_of, count, l, bytes / static_cast<int64_t>(sizeof(Word)));
    HB_LAUNCH((pick_rows<Word, RowOf>), blocks_for_several(rows.n), kThreads, 0, current_stream(),
              static_cast<Word*>(to), static_cast<const Word*>(from), rows);
  });
}
void select_rows(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, Lines l) {
  pick_rows_by(OneIndex(name, index, l.n), index.numel(), out, in, l);
}
void select_places(const char* name, const Tensor& out, const Tensor& in, const Tensor& first, const Tensor& second,
                   const Tensor& third, IndexedSizes of, Lines l) {
  const Tensor given[IndexedSizes::kMost] = {first, second, third};
  pick_rows_by(SeveralIndices(name, given, of), first.numel(), out, in, l);
}

void assign_rows(const char* name, const Tensor& out, const Tensor& index, const Tensor& in, Lines l) {
  const int64_t bytes = l.inner * static_cast<int64_t>(in.impl().itemsize());
  void *to = out.impl().visible_data(), *from = in.impl().visible_data();
  with_row_word(to, from, bytes, [&](auto word) {
    using Word = decltype(word);
    const IndexedRows<OneIndex> rows({name, index, l.n}, index.numel(), l, bytes / static_cast<int64_t>(sizeof(Word)));
    HB_LAUNCH(place_rows<Word>, blocks_for_several(rows.n), kThreads, 0, current_stream(), static_cast<Word*>(to),
              static_cast<const Word*>(from), rows);
  });
}

// `to` has the elements that `r` indexes, in what they are summed in.
template <class To, class T, PutOp op>
__global__ void put_elements(To* to, const T* in, HB_ARGUMENT(IndexedRows<OneIndex>) r) {
  HB_GRID_LOOP(i, r.n) {
    const int64_t place = r.place(i);
    if (place >= 0) put_together<op>(to + place, static_cast<To>(in[i]));
  }
}
template <class To, class T, PutOp op>
void put_by_elements(To* to, const T* in, const IndexedRows<OneIndex>& rows) {
  HB_LAUNCH((put_elements<To, T, op>), blocks_for(rows.n), kThreads, 0, current_stream(), to, in, rows);
}

/// Whether sorting the index costs little beside what it moves.
bool is_large(int64_t n, int64_t columns) { return columns >= 16 && n >= (int64_t{1} << 20); }

void put_rows(const char* name, const Tensor& out, const Tensor& index, const Tensor& in, Lines l, PutOp op) {
  check_order(name, out.scalar_type(), op);
  const int64_t columns = l.outer * l.inner, n = index.numel() * columns;
  if (n == 0) return;
  if (op == PutOp::assign) return assign_rows(name, out, index, in, l);
  if (in_fixed_order() || is_large(n, columns)) return put_runs(name, out, index, in, l, op);
  with_dtype(name, out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    if constexpr (!puts_together<T>) {
      put_runs(name, out, index, in, l, op);
    } else {
      T* const to = static_cast<T*>(out.impl().visible_data());
      const T* const from = static_cast<const T*>(in.impl().visible_data());
      const IndexedRows<OneIndex> rows({name, index, l.n}, index.numel(), l, l.inner);
      with_put(op, [&](auto put) {
        constexpr PutOp kOp = decltype(put)::value;
        if constexpr (is_half_v<T> && kOp == PutOp::add) {
          if (HalfSums<T>::worthwhile(columns * l.n, n)) {
            const HalfSums<T> sums(to, columns * l.n);
            put_by_elements<float, T, kOp>(sums.get(), from, rows);
            return sums.finish();
          }
        }
        if constexpr (kOp != PutOp::assign) put_by_elements<T, T, kOp>(to, from, rows);
      });
    }
  });
}

HB_REGISTER_CUDA(wrap_index_kernel, wrap_index);
HB_REGISTER_CUDA(select_rows_kernel, select_rows);
HB_REGISTER_CUDA(select_places_kernel, select_places);
HB_REGISTER_CUDA(put_rows_kernel, put_rows);

}  // namespace
}  // namespace hb::cuda
