// The element-wise part of an LSTM's step in one pass.
#include "backend/lstm.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

template <class C>
__device__ C sigmoid(C x) {
  return C(1) / (C(1) + std::exp(-x));
}

template <class T>
__global__ void cell(int64_t rows, int64_t n, T* gates, const T* c_before, T* c, T* h) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, rows * n) {
    T* const row = gates + i / n * 4 * n + i % n;
    const C in = sigmoid(widen<C>(row[0])), forget = sigmoid(widen<C>(row[n]));
    const C fresh = std::tanh(widen<C>(row[2 * n])), shown = sigmoid(widen<C>(row[3 * n]));
    const C next = forget * widen<C>(c_before[i]) + in * fresh;
    row[0] = T(in), row[n] = T(forget), row[2 * n] = T(fresh), row[3 * n] = T(shown);
    c[i] = T(next);
    h[i] = T(shown * std::tanh(next));
  }
}

template <class T>
__global__ void cell_gradient(LstmCellGradient s) {
  using C = compute_t<T>;
  const int64_t n = s.hidden;
  const auto of = [](const void* data, int64_t i) { return widen<C>(static_cast<const T*>(data)[i]); };
  HB_GRID_LOOP(i, s.rows * n) {
    const int64_t row = i / n * 4 * n + i % n;
    const C in = of(s.activations, row), forget = of(s.activations, row + n);
    const C fresh = of(s.activations, row + 2 * n), shown = of(s.activations, row + 3 * n);
    const C dh = of(s.grad_out, i) + of(s.grad_h, i), seen = std::tanh(of(s.c, i));
    const C dc = of(s.grad_c, i) + dh * shown * (C(1) - seen * seen);
    T* const grad = static_cast<T*>(s.grad_gates) + row;
    grad[0] = T(dc * fresh * in * (C(1) - in));
    grad[n] = T(dc * of(s.c_before, i) * forget * (C(1) - forget));
    grad[2 * n] = T(dc * in * (C(1) - fresh * fresh));
    grad[3 * n] = T(dh * seen * shown * (C(1) - shown));
    static_cast<T*>(s.grad_c)[i] = T(dc * forget);
  }
}

void lstm_cell(ScalarType dtype, int64_t rows, int64_t hidden, void* gates, const void* c_before, void* c, void* h) {
  if (rows * hidden == 0) return;
  HB_FLOATING_SWITCH("lstm", dtype, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(cell<T>, blocks_for(rows * hidden), kThreads, 0, current_stream(), rows, hidden, static_cast<T*>(gates),
              static_cast<const T*>(c_before), static_cast<T*>(c), static_cast<T*>(h));
  });
}
void lstm_cell_backward(ScalarType dtype, const LstmCellGradient& s) {
  if (s.rows * s.hidden == 0) return;
  HB_FLOATING_SWITCH("lstm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(cell_gradient<T>, blocks_for(s.rows * s.hidden), kThreads, 0, current_stream(), s);
  });
}
HB_REGISTER_CUDA(lstm_cell_kernel, lstm_cell);
HB_REGISTER_CUDA(lstm_cell_backward_kernel, lstm_cell_backward);

}  // namespace
}  // namespace hb::cuda
