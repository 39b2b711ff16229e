// Products of two long vectors.
#include "cuda/gemm.h"
#include "cuda/kernel_file.h"
#include "cuda/reduce_rows.h"
#include "cuda/row_pieces.h"

namespace hb::cuda {
namespace {

template <class T>
struct DotResults {
  T* out;
  const T* bias;  // may be absent
  double alpha, beta;
  int64_t other;  // elements from the one vector to the other
  __device__ void store(int64_t, double sum) const {
    double v = alpha * sum;
    if (beta != 0) v += beta * widen<double>(*out);
    if (bias) v += widen<double>(*bias);
    *out = T(static_cast<compute_t<T>>(v));
  }
};

template <class T>
struct Dot : TwoInputs<T> {
  using Part = double;
  using Results = DotResults<T>;
  static constexpr int kBlocks = 2;
  template <int kChains>
  struct Mine : Chains<Dot, kChains> {
    template <int k>
    __device__ void take(const Both<T>& v, int64_t) {
      this->chain[k] += static_cast<double>(v.a) * static_cast<double>(v.b);
    }
    __device__ void edge(const Both<T>& v, int64_t index) { take<0>(v, index); }
  };
  __device__ static double none() { return 0; }
  __device__ static double merged(double a, double b) { return a + b; }
  __device__ static double from_lane(double v, int lanes) { return __shfl_xor_sync(kFullWarp, v, lanes); }
  __device__ static double from_other(const double* at) { return written_by_others(at); }
};

}  // namespace

bool dot_product(const Gemm& g) {
  constexpr int64_t kEnough = 1 << 14;
  const bool neighbours = g.m == 1 && g.n == 1 && g.batch_count() == 1 && g.a.col == 1 && g.b.row == 1;
  if (!is_floating_type(g.dtype) || !neighbours || g.k < kEnough || !begin_vectors(g.a.data, g.b.data)) return false;
  HB_FLOATING_SWITCH(current_function(), g.dtype, [&](auto type) {
    using T = decltype(type);
    const T *const a = static_cast<const T*>(g.a.data), *const b = static_cast<const T*>(g.b.data);
    launch_rows<Dot<T>>(contiguous_rows(reinterpret_cast<const char*>(a), {1, g.k, 1}, sizeof(T)),
                        {static_cast<T*>(g.c.data), static_cast<const T*>(g.bias), g.alpha, g.beta, b - a});
  });
  return true;
}

}  // namespace hb::cuda
