// The largest or smallest of each line and where it first stands, and whether two tensors are equal.
#include "backend/equal.h"
#include "backend/reduce.h"
#include "cuda/convert.h"
#include "cuda/graph.h"
#include "cuda/reduce_columns.h"
#include "cuda/reduce_rows.h"
#include "cuda/register.h"
#include "cuda/report.h"
#include "cuda/row_pieces.h"
#include "cuda/scratch.h"
#include "formulas/reduce_step.h"

namespace hb::cuda {
namespace {

/// Whether x at place i comes before what was found: a larger (smaller) value, the first NaN, or the same one earlier.
template <class C, bool Largest>
__device__ bool better(C x, int64_t i, C best, int64_t at) {
  const bool nan_x = x != x, nan_best = best != best;
  if (nan_x || nan_best) return nan_x && (!nan_best || i < at);
  return x == best ? i < at : Largest ? x > best : x < best;
}

/// At place -1 the value that no other is smaller (larger) than: if nothing beats that, all are the same.
template <class C>
struct Found {
  C value;
  int64_t at;
};
template <class C, bool Largest>
__device__ Found<C> nothing_found() {
  constexpr ReduceOp op = Largest ? ReduceOp::max : ReduceOp::min;
  return {formula::start<op, C>(), -1};
}

template <class T, bool Largest>
__global__ void __launch_bounds__(kThreads)
    extremum_lines(T* values, int64_t* indices, const T* in, Lines l, HB_ARGUMENT(Groups) g) {
  using C = Compared<T>;
  HB_SHARED(Found<C>, shared, kThreads);
  const int64_t blocks = (g.outputs + kThreads / g.width - 1) / (kThreads / g.width);
  for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const Member m(g, block);
    const bool there = m.output < g.outputs;
    const int64_t outer = m.output / l.inner, line = outer * l.n * l.inner + (m.output - outer * l.inner);
    Found<C> best = nothing_found<C, Largest>();
    for (int64_t i = m.rank; there && i < l.n; i += g.width) {
      const C x = static_cast<C>(in[line + i * l.inner]);
      if (better<C, Largest>(x, i, best.value, best.at)) best = {x, i};
    }
    best = merge_group(best, g, m, shared, [](const Found<C>& a, const Found<C>& b) {
      return better<C, Largest>(b.value, b.at, a.value, a.at) ? b : a;
    });
    if (!there || m.rank != 0) continue;
    const int64_t at = best.at < 0 ? 0 : best.at;
    indices[m.output] = at;
    if (values) values[m.output] = in[line + at * l.inner];
  }
}

/// For reduce_parts.h.
template <class X_, bool Largest>
struct Best : OneInput<X_> {
  using X = X_;
  using C = Loaded<X>;
  using Part = Found<C>;
  static constexpr int kBlocks = 2;

  struct Results {
    X* values;  // may be absent
    int64_t* indices;
    __device__ void store(int64_t output, const Part& best) const {
      indices[output] = best.at < 0 ? 0 : best.at;
      if (values) values[output] = X(best.value);
    }
  };
  template <int kChains>
  struct Mine : Chains<Best, kChains> {
    /// Those before it have smaller places, so that equal ones need no look at them.
    template <int k>
    __device__ void take(C x, int64_t index) {
      Part& best = this->chain[k];
      const bool beaten = Largest ? !(x <= best.value) : !(x >= best.value);
      if (beaten & (best.value == best.value)) best = {x, index};
    }
    __device__ void edge(C x, int64_t index) {
      Part& best = this->chain[0];
      if (better<C, Largest>(x, index, best.value, best.at)) best = {x, index};
    }
  };

  __device__ static Part none() { return nothing_found<C, Largest>(); }
  __device__ static Part merged(const Part& a, const Part& b) {
    return better<C, Largest>(b.value, b.at, a.value, a.at) ? b : a;
  }
  __device__ static Part from_lane(const Part& mine, int lanes) {
    return {__shfl_xor_sync(kFullWarp, mine.value, lanes), __shfl_xor_sync(kFullWarp, mine.at, lanes)};
  }
  __device__ static Part from_other(const Part* at) {
    return {written_by_others(&at->value), written_by_others(&at->at)};
  }
};

/// False: too many results for a grid.
template <class T, bool Largest>
bool launch_best(T* values, int64_t* indices, const T* in, Lines l) {
  constexpr int64_t kSize = sizeof(T);
  if (l.outer * l.inner >= int64_t{1} << 31) return false;
  const char* const from = reinterpret_cast<const char*>(in);
  const typename Best<T, Largest>::Results results{values, indices};
  if (l.inner == 1)
    launch_rows<Best<T, Largest>>(contiguous_rows(from, l, kSize), results);
  else
    launch_columns<Best<T, Largest>>(contiguous_columns(from, l, kSize), results);
  return true;
}

template <class T>
void launch(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l, bool largest) {
  T* const v = values.defined() ? static_cast<T*>(values.impl().raw_data()) : nullptr;
  auto* const at = static_cast<int64_t*>(indices.impl().raw_data());
  const T* const x = static_cast<const T*>(in.impl().raw_data());
  if (largest ? launch_best<T, true>(v, at, x, l) : launch_best<T, false>(v, at, x, l)) return;
  const Groups g = groups_for(l.outer * l.inner, l.n, l.inner == 1, false);
  if (largest)
    HB_LAUNCH((extremum_lines<T, true>), g.blocks(), kThreads, 0, current_stream(), v, at, x, l, g);
  else
    HB_LAUNCH((extremum_lines<T, false>), g.blocks(), kThreads, 0, current_stream(), v, at, x, l, g);
}

void extremum_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l, bool largest) {
  if (l.outer * l.inner == 0) return;
  switch (in.scalar_type()) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return launch<T>(values, indices, in, l, largest);
    HB_FORALL_REAL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[max] is not supported for dtype ", in.scalar_type());
  }
}

template <class T>
__device__ bool same(const T& a, const T& b) {
  if constexpr (is_half_v<T>)
    return static_cast<float>(a) == static_cast<float>(b);
  else
    return a == b;
}

/// By vectors, and what is left behind them by elements.
template <class T>
__global__ void __launch_bounds__(kThreads) compare(const T* a, const T* b, int64_t n, int64_t vectors, int* differs) {
  constexpr int kEach = kRowEach<T>;
  bool mine = false;
  HB_GRID_LOOP(i, vectors) {
    const auto v = load_vector<RowVector<T>>(a + i * kEach), w = load_vector<RowVector<T>>(b + i * kEach);
#pragma unroll
    for (int e = 0; e < kEach; ++e) mine |= !same(v.x[e], w.x[e]);
  }
  HB_GRID_LOOP(i, n - vectors * kEach) mine |= !same(a[vectors * kEach + i], b[vectors * kEach + i]);
  if (__syncthreads_or(mine) && threadIdx.x == 0) atomicExch(differs, 1);
}
template <class T>
void launch_compare(const Tensor& a, const Tensor& b, int* differs) {
  const auto* const x = static_cast<const T*>(a.impl().visible_data());
  const auto* const y = static_cast<const T*>(b.impl().visible_data());
  const bool aligned = begin_vectors(x, y);
  const int64_t n = a.numel(), vectors = aligned ? n / kRowEach<T> : 0;
  HB_LAUNCH(compare<T>, blocks_for(aligned ? vectors : n), kThreads, 0, current_stream(), x, y, n, vectors, differs);
}

bool equal_cuda(const Tensor& a, const Tensor& b) {
  const Scratch<int> differs(1);
  check(cudaMemsetAsync(differs.get(), 0, sizeof(int), current_stream()), "equal");
  switch (moved_type(a.scalar_type())) {
#define HB_CASE(T, Name)                    \
  case ScalarType::Name:                    \
    launch_compare<T>(a, b, differs.get()); \
    break;
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[equal] is not supported for dtype ", a.scalar_type());
  }
  int found = 0;
  Graph::expect_none();
  check(cudaMemcpyAsync(&found, differs.get(), sizeof found, cudaMemcpyDeviceToHost, current_stream()), "equal");
  wait_for(current_stream());
  return found == 0;
}

HB_REGISTER_CUDA(extremum_kernel, extremum_cuda);
HB_REGISTER_CUDA(equal_kernel, equal_cuda);

}  // namespace
}  // namespace hb::cuda
