#include "cuda/gemm.h"

#include <halfbridge/ops/factories.h>

#include "cuda/kernel_file.h"
#include "cuda/reduce.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

template <class T>
__global__ void gather(T* to, GemmMatrix from, int64_t inner_batch, int64_t rows, int64_t cols, int64_t n) {
  const T* in = static_cast<const T*>(from.data);
  HB_GRID_LOOP(i, n) {
    const int64_t b = i / (rows * cols), r = i / cols % rows, c = i % cols;
    to[i] = in[b / inner_batch * from.batch[0] + b % inner_batch * from.batch[1] + r * from.row + c * from.col];
  }
}

/// Result i of all products: its matrix in the two dimensions of the stack, its row and its column.
struct ResultPlace {
  int64_t outer, inner, row, col;
  __device__ ResultPlace(const Gemm& g, int64_t i)
      : outer(i / (g.m * g.n) / g.batch[1]), inner(i / (g.m * g.n) % g.batch[1]), row(i / g.n % g.m), col(i % g.n) {}
  template <class T>
  __device__ T* matrix(const GemmMatrix& m) const {
    return static_cast<T*>(m.data) + outer * m.batch[0] + inner * m.batch[1];
  }
  template <class T>
  __device__ T* result(const Gemm& g) const {
    return matrix<T>(g.c) + row * g.c.row + col * g.c.col;
  }
};

// A thread for each result.
template <class T>
__global__ void multiply(Gemm g, T alpha, T beta, int64_t n) {
  HB_GRID_LOOP(i, n) {
    const ResultPlace place(g, i);
    const T* a = place.matrix<const T>(g.a) + place.row * g.a.row;
    const T* x = place.matrix<const T>(g.b) + place.col * g.b.col;
    T* out = place.result<T>(g);
    T sum = 0;
    for (int64_t k = 0; k < g.k; ++k) sum = static_cast<T>(sum + a[k * g.a.col] * x[k * g.b.row]);
    T result = static_cast<T>(alpha * sum);
    if (beta != 0) result = static_cast<T>(result + beta * *out);
    if (g.bias) result = static_cast<T>(result + static_cast<const T*>(g.bias)[place.col]);
    *out = result;
  }
}
template <class T>
void multiply_as(const Gemm& g) {
  const int64_t n = g.batch_count() * g.m * g.n;
  HB_LAUNCH(multiply<T>, blocks_for(n), kThreads, 0, current_stream(), g, static_cast<T>(g.alpha),
            static_cast<T>(g.beta), n);
}

template <class T>
__global__ void add_bias(Gemm g, int64_t n) {
  HB_GRID_LOOP(i, n) {
    const ResultPlace place(g, i);
    T* out = place.result<T>(g);
    *out = static_cast<T>(*out + static_cast<const T*>(g.bias)[place.col]);
  }
}

}  // namespace

void column_sum(ScalarType dtype, void* out, const void* in, int64_t rows, int64_t cols, int64_t stride) {
  if (cols == 0) return;
  if (rows == 0) return check(cudaMemsetAsync(out, 0, cols * element_size(dtype), current_stream()), "column_sum");
  const auto options = TensorOptions().dtype(dtype).device(Device(kCUDA, current_device()));
  const Tensor sums = from_blob(out, {1, cols}, options);
  const Tensor matrix = from_blob(const_cast<void*>(in), {rows, cols}, {stride, 1}, options);
  reduce(ReduceLoop(sums, matrix, 1), ReduceOp::sum, dtype == kDouble ? kDouble : kFloat, {});
}
HB_REGISTER_CUDA(column_sum_kernel, column_sum);

void gather_matrices(size_t element_size, void* to, const GemmMatrix& from, const int64_t* batch, int64_t rows,
                     int64_t cols) {
  const int64_t n = batch[0] * batch[1] * rows * cols;
  if (n == 0) return;
  const auto run = [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(gather<T>, blocks_for(n), kThreads, 0, current_stream(), static_cast<T*>(to), from, batch[1], rows, cols,
              n);
  };
  with_word(static_cast<size_t>(element_size), run);
}

void add_bias_to_product(const Gemm& g) {
  const int64_t n = g.batch_count() * g.m * g.n;
  HB_FLOATING_SWITCH("add_bias", g.dtype, [&](auto type) {
    HB_LAUNCH(add_bias<decltype(type)>, blocks_for(n), kThreads, 0, current_stream(), g, n);
  });
}

void plain_gemm(const Gemm& g) {
  switch (g.dtype) {
    case kByte:
      return multiply_as<uint8_t>(g);
    case kChar:
      return multiply_as<int8_t>(g);
    case kShort:
      return multiply_as<int16_t>(g);
    case kInt:
      return multiply_as<int32_t>(g);
    case kLong:
      return multiply_as<int64_t>(g);
    default:
      HB_FLOATING_SWITCH(current_function(), g.dtype, [&](auto type) { multiply_as<decltype(type)>(g); });
  }
}

}  // namespace hb::cuda
