#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "ops/common/or_undefined.h"

namespace hb {
namespace {
/// Weights have `parts` rows for each value of `state`: the hidden state, an LSTM's cell state (its hidden one may be
/// projected to fewer values).
void check(const char* name, int64_t parts, const Tensor& input, const Tensor& hidden, const Tensor& state,
           const Tensor& w_ih, const Tensor& w_hh) {
  HB_CHECK(w_ih.dim() == 2 && w_hh.dim() == 2, "[", name, "] expected matrices of weights, got ", w_ih.sizes(), " and ",
           w_hh.sizes());
  HB_CHECK(input.size(-1) == w_ih.size(1), "[", name, "] expected an input of ", w_ih.size(1), " features, got ",
           input.sizes());
  HB_CHECK(hidden.size(-1) == w_hh.size(1), "[", name, "] expected a hidden state of ", w_hh.size(1), " features, got ",
           hidden.sizes());
  const int64_t rows = parts * state.size(-1);
  HB_CHECK(w_ih.size(0) == rows && w_hh.size(0) == rows, "[", name, "] expected weights of ", rows, " rows, got ",
           w_ih.sizes(), " and ", w_hh.sizes());
}
Tensor gates(const Tensor& input, const Tensor& hidden, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
             const Tensor& b_hh) {
  return linear(input, w_ih, b_ih) + linear(hidden, w_hh, b_hh);
}
}  // namespace

TensorTuple2 lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                       const std::optional<Tensor>& b_ih_or_none, const std::optional<Tensor>& b_hh_or_none) {
  const Tensor& b_ih = or_undefined(b_ih_or_none);
  const Tensor& b_hh = or_undefined(b_hh_or_none);
  HB_AUTOCAST(lstm_cell, as_is, half, input, hx, w_ih, w_hh, b_ih, b_hh);
  HB_CHECK(hx.size() == 2, "[lstm_cell] expected a hidden and a cell state, got ", hx.size(), " tensors");
  check("lstm_cell", 4, input, hx[0], hx[1], w_ih, w_hh);
  const auto parts = gates(input, hx[0], w_ih, w_hh, b_ih, b_hh).chunk(4, -1);
  const Tensor c = parts[1].sigmoid() * hx[1] + parts[0].sigmoid() * parts[2].tanh();
  return {parts[3].sigmoid() * c.tanh(), c};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const std::optional<Tensor>& b_ih_or_none, const std::optional<Tensor>& b_hh_or_none) {
  const Tensor& b_ih = or_undefined(b_ih_or_none);
  const Tensor& b_hh = or_undefined(b_hh_or_none);
  HB_AUTOCAST(gru_cell, as_is, half, input, hx, w_ih, w_hh, b_ih, b_hh);
  check("gru_cell", 3, input, hx, hx, w_ih, w_hh);
  const auto x = linear(input, w_ih, b_ih).chunk(3, -1), h = linear(hx, w_hh, b_hh).chunk(3, -1);
  const Tensor reset = (x[0] + h[0]).sigmoid(), update = (x[1] + h[1]).sigmoid();
  const Tensor fresh = (x[2] + reset * h[2]).tanh();
  return (hx - fresh) * update + fresh;
}

Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const std::optional<Tensor>& b_ih_or_none, const std::optional<Tensor>& b_hh_or_none) {
  const Tensor& b_ih = or_undefined(b_ih_or_none);
  const Tensor& b_hh = or_undefined(b_hh_or_none);
  HB_AUTOCAST(rnn_tanh_cell, as_is, half, input, hx, w_ih, w_hh, b_ih, b_hh);
  check("rnn_tanh_cell", 1, input, hx, hx, w_ih, w_hh);
  return gates(input, hx, w_ih, w_hh, b_ih, b_hh).tanh();
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const std::optional<Tensor>& b_ih_or_none, const std::optional<Tensor>& b_hh_or_none) {
  const Tensor& b_ih = or_undefined(b_ih_or_none);
  const Tensor& b_hh = or_undefined(b_hh_or_none);
  HB_AUTOCAST(rnn_relu_cell, as_is, half, input, hx, w_ih, w_hh, b_ih, b_hh);
  check("rnn_relu_cell", 1, input, hx, hx, w_ih, w_hh);
  return gates(input, hx, w_ih, w_hh, b_ih, b_hh).relu();
}

}  // namespace hb
