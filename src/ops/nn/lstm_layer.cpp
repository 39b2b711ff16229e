#include "ops/nn/lstm_layer.h"

#include <halfbridge/ops.h>

#include "autograd/composed.h"
#include "backend/lstm.h"
#include "ops/linalg/matrix_product.h"

namespace hb::ops {
namespace {

/// Which rows of (steps * batch, …) a step has, in the order of time or against it.
struct Steps {
  int64_t count, batch;
  bool reverse;
  Tensor rows(const Tensor& t, int64_t i) const { return t.narrow(0, (reverse ? count - 1 - i : i) * batch, batch); }
  /// All steps but the last, or but the first.
  Tensor earlier(const Tensor& t) const { return t.narrow(0, reverse ? batch : 0, (count - 1) * batch); }
  Tensor later(const Tensor& t) const { return t.narrow(0, reverse ? 0 : batch, (count - 1) * batch); }
};

// The same by public functions. v: input, h, c, and the weights.
variable_list composed(const variable_list& v, const Steps& s) {
  variable_list state{v[1], v[2]}, outputs(static_cast<size_t>(s.count));
  for (int64_t i = 0; i < s.count; ++i) {
    auto [h, c] = lstm_cell(s.rows(v[0], i), state, v[3], v[4], v[5], v[6]);
    state = {h, c};
    outputs[s.reverse ? s.count - 1 - i : i] = h;
  }
  return {cat(outputs), state[0], state[1]};
}

// saved: the seven inputs, the outputs, the activations of the gates and the cells of all steps.
variable_list gradients(Backward& b, const variable_list& saved, const Steps& s) {
  const variable_list inputs(saved.begin(), saved.begin() + 7);
  if (GradMode::is_enabled())
    return composed_gradients(b, inputs, {b.grad(0), b.grad(1), b.grad(2)},
                              [&](const variable_list& v) { return composed(v, s); });
  const Tensor &x = saved[0], &h0 = saved[1], &c0 = saved[2], &w_ih = saved[3], &w_hh = saved[4];
  const Tensor &outputs = saved[7], &activations = saved[8], &cells = saved[9], grad_out = b.grad(0).contiguous();
  const Tensor grad_h = b.grad(1).clone(MemoryFormat::Contiguous), grad_c = b.grad(2).clone(MemoryFormat::Contiguous);
  const Tensor sums = empty(activations.sizes(), activations.options());
  for (int64_t i = s.count; i-- > 0;) {
    const Tensor grad_gates = s.rows(sums, i), before = i ? s.rows(cells, i - 1) : c0.contiguous();
    lstm_cell_backward_kernel(x.device())(
        x.scalar_type(),
        {s.batch, h0.size(1), s.rows(activations, i).impl().visible_data(), before.impl().visible_data(),
         s.rows(cells, i).impl().visible_data(), s.rows(grad_out, i).impl().visible_data(),
         grad_h.impl().visible_data(), grad_c.impl().visible_data(), grad_gates.impl().visible_data()});
    stack_product_into(grad_h, grad_gates, w_hh, 1, 0);
  }
  variable_list out(7);
  const Tensor turned = sums.t();
  if (b.needs(0)) out[0] = mm(sums, w_ih);
  out[1] = grad_h, out[2] = grad_c;
  if (b.needs(3)) out[3] = mm(turned, x);
  if (b.needs(4)) {
    out[4] = empty(w_hh.sizes(), w_hh.options());
    stack_product_into(out[4], s.rows(sums, 0).t(), h0, 1, 0);
    if (s.count > 1) stack_product_into(out[4], s.later(sums).t(), s.earlier(outputs), 1, 1);
  }
  if (b.needs(5) || b.needs(6)) out[5] = sums.sum(0), out[6] = out[5].clone();
  return out;
}

}  // namespace

std::array<Tensor, 3> lstm_layer(const Tensor& input, const Tensor& h, const Tensor& c, const LstmWeights& w,
                                 int64_t steps, bool reverse) {
  const Steps s{steps, h.size(0), reverse};
  const int64_t hidden = h.size(1);
  Tensor outputs = empty({steps * s.batch, hidden}, input.options()), last_h, last_c, gates, cells;
  {
    NoGradGuard no_history;
    cells = empty_like(outputs);
    gates = linear(input, w.ih, w.b_ih.defined() ? w.b_ih + w.b_hh : Tensor());
    // Products of float, and of half types, would turn it at each step.
    const bool turn = steps >= 4 && input.scalar_type() != kDouble;
    const Tensor w_hh = turn ? w.hh.t().contiguous() : w.hh.t(), h0 = h.contiguous(), c0 = c.contiguous();
    GemmMatrix weight;
    weight.data = w_hh.impl().visible_data(), weight.row = w_hh.stride(0), weight.col = w_hh.stride(1);
    const Device device = input.device();
    const LstmSteps all{steps,
                        s.batch,
                        hidden,
                        reverse,
                        h0.impl().visible_data(),
                        c0.impl().visible_data(),
                        weight,
                        gates.impl().visible_data(),
                        cells.impl().visible_data(),
                        outputs.impl().visible_data()};
    if (lstm_steps_kernel.available(device) || device.is_meta())
      lstm_steps_kernel(device)(input.scalar_type(), all);
    else
      lstm_step_by_step(device, input.scalar_type(), all);
    last_h = s.rows(outputs, steps - 1).clone(), last_c = s.rows(cells, steps - 1).clone();
  }
  if (needs_grad(input, h, c, w.ih, w.hh, w.b_ih, w.b_hh)) {
    std::vector<SavedTensor> saved;
    const std::array<const Tensor*, 7> inputs{&input, &h, &c, &w.ih, &w.hh, &w.b_ih, &w.b_hh};
    for (const Tensor* t : inputs) saved.push_back(SavedTensor::input(*t));
    saved.push_back(SavedTensor::output(outputs));
    saved.push_back(SavedTensor::input(gates)), saved.push_back(SavedTensor::input(cells));
    const std::array<Tensor*, 3> results{&outputs, &last_h, &last_c};
    record_many("LstmLayerBackward0", ArrayRef<Tensor*>(results.data(), results.size()),
                ArrayRef<const Tensor*>(inputs.data(), inputs.size()), std::move(saved),
                [s](Backward& b, const variable_list& v) { return gradients(b, v, s); });
  }
  return {outputs, last_h, last_c};
}

}  // namespace hb::ops
