// LSTMs: the element-wise part of a step in one pass, and all steps of a layer.
#include "backend/lstm.h"

#include <vector>

#include "cpu/gemm.h"
#include "cpu/isa/pair_product.h"
#include "cpu/isa/runs.h"
#include "formulas/math.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class C>
inline __attribute__((always_inline)) C sigmoid(C x) {
  return C(1) / (C(1) + quick_exp(-x));
}

/// float_sums: the sums where they are not in `gates`, as they are computed with.
template <class T>
void cell(int64_t rows, int64_t n, T* gates, const T* c_before, T* c, T* h, const compute_t<T>* float_sums = nullptr) {
  using C = compute_t<T>;
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / 32 / n), [&](int64_t from, int64_t to) {
    RunBuffer<T> wide(4 * n), wide_before(n), wide_c(n), wide_h(n);
    for (int64_t r = from; r < to; ++r) {
      const C* sum = float_sums ? float_sums + r * 4 * n : computable(gates + r * 4 * n, wide.data(), 4 * n);
      C* out = results(gates + r * 4 * n, wide.data());
      const C* before = computable(c_before + r * n, wide_before.data(), n);
      C *cell = results(c + r * n, wide_c.data()), *hidden = results(h + r * n, wide_h.data());
      HB_INDEPENDENT
      for (int64_t j = 0; j < n; ++j) {
        const C in = sigmoid(sum[j]), forget = sigmoid(sum[n + j]);
        const C fresh = math::tanh(sum[2 * n + j]), shown = sigmoid(sum[3 * n + j]);
        const C next = forget * before[j] + in * fresh;
        out[j] = in, out[n + j] = forget, out[2 * n + j] = fresh, out[3 * n + j] = shown;
        cell[j] = next;
        hidden[j] = shown * math::tanh(next);
      }
      finish(out, gates + r * 4 * n, 4 * n);
      finish(cell, c + r * n, n), finish(hidden, h + r * n, n);
    }
  });
}

template <class T>
void cell_backward(const LstmCellGradient& s) {
  using C = compute_t<T>;
  const int64_t n = s.hidden;
  const auto row = [&](const void* data, int64_t r, int64_t width) { return static_cast<const T*>(data) + r * width; };
  parallel_for(0, s.rows, std::max<int64_t>(1, kGrain / 16 / n), [&](int64_t from, int64_t to) {
    RunBuffer<T> wide(4 * n), wide_before(n), wide_c(n), wide_out(n), wide_h(n), wide_grad_c(n), wide_grad(4 * n);
    for (int64_t r = from; r < to; ++r) {
      T* to_grad_c = static_cast<T*>(s.grad_c) + r * n;
      T* to_grad = static_cast<T*>(s.grad_gates) + r * 4 * n;
      const C* y = computable(row(s.activations, r, 4 * n), wide.data(), 4 * n);
      const C* before = computable(row(s.c_before, r, n), wide_before.data(), n);
      const C* c = computable(row(s.c, r, n), wide_c.data(), n);
      const C* grad_out = computable(row(s.grad_out, r, n), wide_out.data(), n);
      const C* grad_h = computable(row(s.grad_h, r, n), wide_h.data(), n);
      const C* grad_c = computable(to_grad_c, wide_grad_c.data(), n);
      C *new_grad_c = results(to_grad_c, wide_grad_c.data()), *grad = results(to_grad, wide_grad.data());
      HB_INDEPENDENT
      for (int64_t j = 0; j < n; ++j) {
        const C in = y[j], forget = y[n + j], fresh = y[2 * n + j], shown = y[3 * n + j];
        const C dh = grad_out[j] + grad_h[j], seen = math::tanh(c[j]);
        const C dc = grad_c[j] + dh * shown * (C(1) - seen * seen);
        grad[j] = dc * fresh * in * (C(1) - in);
        grad[n + j] = dc * before[j] * forget * (C(1) - forget);
        grad[2 * n + j] = dc * in * (C(1) - fresh * fresh);
        grad[3 * n + j] = dh * seen * shown * (C(1) - shown);
        new_grad_c[j] = dc * forget;
      }
      finish(new_grad_c, to_grad_c, n), finish(grad, to_grad, 4 * n);
    }
  });
}

/// Small products of bf16: the weights are packed once for all steps, and sums stay in float.
void steps_by_pairs(const LstmSteps& s) {
  Gemm g = lstm_product(s, kBFloat16);
  std::vector<uint32_t> weight(words_of_pairs(g));
  pack_pairs_of_b(g, weight.data());
  std::vector<float> sums(g.m * g.n);
  g.c.data = sums.data();
  for (int64_t i = 0; i < s.steps; ++i) {
    const LstmRows at = lstm_rows(s, kBFloat16, i);
    auto* const gates = static_cast<BFloat16*>(at.gates);
    g.a.data = const_cast<void*>(at.h_before);
    load(gates, sums.data(), g.m * g.n);
    pair_product(g, weight.data());
    cell(s.batch, s.hidden, gates, static_cast<const BFloat16*>(at.c_before), static_cast<BFloat16*>(at.c),
         static_cast<BFloat16*>(at.h), sums.data());
  }
}

void lstm_steps(ScalarType dtype, const LstmSteps& s) {
  constexpr int64_t kSmall = 1 << 18;  // products a step
  const bool unit = s.weight.row == 1 || s.weight.col == 1;
  if (kIsaLevel >= 4 && dtype == kBFloat16 && has_fast_bf16() && unit && 4 * s.batch * s.hidden * s.hidden <= kSmall)
    return steps_by_pairs(s);
  lstm_step_by_step(kCPU, dtype, s);
}
void lstm_cell(ScalarType dtype, int64_t rows, int64_t hidden, void* gates, const void* c_before, void* c, void* h) {
  HB_FLOATING_SWITCH("lstm", dtype, [&](auto type) {
    using T = decltype(type);
    cell(rows, hidden, static_cast<T*>(gates), static_cast<const T*>(c_before), static_cast<T*>(c), static_cast<T*>(h));
  });
}
void lstm_cell_backward(ScalarType dtype, const LstmCellGradient& s) {
  HB_FLOATING_SWITCH("lstm_backward", dtype, [&](auto type) { cell_backward<decltype(type)>(s); });
}

HB_REGISTER_ISA(lstm_steps_kernel, lstm_steps);
HB_REGISTER_ISA(lstm_cell_kernel, lstm_cell);
HB_REGISTER_ISA(lstm_cell_backward_kernel, lstm_cell_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
