#pragma once
// Sums of half types to which many threads add: in float, rounded once.

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

template <class T>
__global__ void add_float_sums(T* out, const float* sums, int64_t n) {
  HB_GRID_LOOP(i, n) if (sums[i] != 0) out[i] = T(widen<float>(out[i]) + sums[i]);
}

/// A sum for each element of `out`, which are n one after the other.
template <class T>
class HalfSums {
 public:
  HalfSums(T* out, int64_t n) : out_(out), n_(n), sums_(n) {
    check(cudaMemsetAsync(sums_.get(), 0, static_cast<size_t>(n) * sizeof(float), current_stream()), "sums");
  }
  float* get() const { return sums_.get(); }
  void finish() const {
    HB_LAUNCH(add_float_sums<T>, blocks_for(n_), kThreads, 0, current_stream(), out_,
              static_cast<const float*>(sums_.get()), n_);
  }
  /// Whether that costs less than it is worth: n elements, to which `added` are added.
  static bool worthwhile(int64_t n, int64_t added) { return n <= 8 * added; }

 private:
  T* out_;
  int64_t n_;
  Scratch<float> sums_;
};

}  // namespace
}  // namespace hb::cuda
