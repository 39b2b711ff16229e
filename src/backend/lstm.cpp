#include "backend/lstm.h"

namespace hb {

LstmRows lstm_rows(const LstmSteps& s, ScalarType dtype, int64_t step) {
  const int64_t at = s.reverse ? s.steps - 1 - step : step, before = s.reverse ? at + 1 : at - 1;
  const int64_t bytes = s.batch * s.hidden * static_cast<int64_t>(element_size(dtype));
  auto *const gates = static_cast<char*>(s.gates), *const cells = static_cast<char*>(s.cells),
              *const outputs = static_cast<char*>(s.outputs);
  return {gates + at * 4 * bytes, cells + at * bytes, outputs + at * bytes, step ? cells + before * bytes : s.c,
          step ? outputs + before * bytes : s.h};
}

Gemm lstm_product(const LstmSteps& s, ScalarType dtype) {
  Gemm g;
  g.dtype = dtype;
  g.m = s.batch, g.k = s.hidden, g.n = 4 * s.hidden;
  g.a.row = s.hidden, g.a.col = 1;
  g.b = s.weight;
  g.c.row = g.n, g.c.col = 1;
  g.beta = 1;
  return g;
}

void lstm_step_by_step(const Device& device, ScalarType dtype, const LstmSteps& s) {
  Gemm g = lstm_product(s, dtype);
  for (int64_t i = 0; i < s.steps; ++i) {
    const LstmRows at = lstm_rows(s, dtype, i);
    g.a.data = const_cast<void*>(at.h_before), g.c.data = at.gates;
    gemm_kernel(device)(g);
    lstm_cell_kernel(device)(dtype, s.batch, s.hidden, at.gates, at.c_before, at.c, at.h);
  }
}

}  // namespace hb
