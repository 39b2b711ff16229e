#pragma once

#include <halfbridge/tensor.h>

#include "backend/gemm.h"
#include "backend/kernel.h"

namespace hb {

/// One step of an LSTM after the products. gates (rows, 4 hidden): sums for input, forget, cell and output gate,
/// replaced by their activations; c_before, c, h (rows, hidden).
HB_API inline Kernel<void(ScalarType dtype, int64_t rows, int64_t hidden, void* gates, const void* c_before, void* c,
                          void* h)>
    lstm_cell_kernel{"lstm"};

/// All steps of a layer in one direction. h, c (batch, hidden); weight (hidden, 4 hidden); gates (steps batch, 4
/// hidden): the input's sums, replaced by the activations; cells, outputs (steps batch, hidden). With `reverse` the
/// last step's rows come first in time. Where a device has none, lstm_step_by_step does the same.
struct LstmSteps {
  int64_t steps, batch, hidden;
  bool reverse;
  const void *h, *c;
  GemmMatrix weight;
  void *gates, *cells, *outputs;
};
inline void operands(capture::Operands& v, LstmSteps& s) {
  v.reads(s.h), v.reads(s.c), v.reads(s.weight.data);
  v.changes(s.gates), v.writes(s.cells), v.writes(s.outputs);
}
HB_API inline Kernel<void(ScalarType dtype, const LstmSteps& s)> lstm_steps_kernel{"lstm"};

/// The rows of one step, and of the step before it.
struct LstmRows {
  void *gates, *c, *h;
  const void *c_before, *h_before;
};
LstmRows lstm_rows(const LstmSteps& s, ScalarType dtype, int64_t step);
/// The product of one step, to which its rows are still to be given: gates += h_before weight.
Gemm lstm_product(const LstmSteps& s, ScalarType dtype);
/// By gemm_kernel and lstm_cell_kernel.
void lstm_step_by_step(const Device& device, ScalarType dtype, const LstmSteps& s);

/// Its gradients: of the sums from the activations and the gradients of h, a sum of two. grad_c: of c, becomes that of
/// c_before.
struct LstmCellGradient {
  int64_t rows, hidden;
  const void *activations, *c_before, *c, *grad_out, *grad_h;
  void *grad_c, *grad_gates;
};
inline void operands(capture::Operands& v, LstmCellGradient& s) {
  v.reads(s.activations), v.reads(s.c_before), v.reads(s.c), v.reads(s.grad_out), v.reads(s.grad_h);
  v.changes(s.grad_c), v.changes(s.grad_gates);
}
HB_API inline Kernel<void(ScalarType dtype, const LstmCellGradient& s)> lstm_cell_backward_kernel{"lstm_backward"};

}  // namespace hb
