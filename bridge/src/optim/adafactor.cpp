#include <halfbridge/bridge/optim/adafactor.h>

#include <halfbridge/ops/factories.h>

#include <limits>

#include "checks.h"
#include "fields.h"
#include "formulas/update_rules/scaled.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADAFACTOR_OPTIONS(_) _(lr) _(beta2_decay) _(eps) _(d) _(weight_decay)
#define ADAFACTOR_EXTRA(_) _(maximize)
#define ADAFACTOR_STATE(_) _(step) _(row_var) _(col_var) _(variance)
HB_OPTIMIZER_BOILERPLATE(Adafactor, ADAFACTOR_OPTIONS, ADAFACTOR_EXTRA, ADAFACTOR_STATE)

Adafactor::Adafactor(const std::vector<OptimizerParamGroup>& param_groups, AdafactorOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdafactorOptions>(defaults)) {
  const auto [eps1, eps2] = defaults.eps();
  HB_CHECK(defaults.lr() >= 0, "Learning rate should be >= 0 but is: ", defaults.lr());
  HB_CHECK(defaults.beta2_decay() <= 0, "beta2_decay should be <= 0 but is: ", defaults.beta2_decay());
  HB_CHECK(!eps1 || *eps1 >= 0, "epsilon1 should be >= 0 but is: ", eps1.value_or(0));
  HB_CHECK(eps2 >= 0, "epsilon2 should be >= 0 but is: ", eps2);
  HB_CHECK(defaults.d() >= 1, "Clipping threshold d should be >= 1 but is: ", defaults.d());
  HB_CHECK(defaults.weight_decay() >= 0, "weight_decay should be >= 0 but is: ", defaults.weight_decay());
}

namespace {
/// Brings a factor into the wanted shape and dtype; made of zeros at the first step.
void* factor(Tensor& state, std::vector<int64_t> shape, ScalarType dtype, const Tensor& param) {
  if (!state.defined()) state = zeros(shape, param.options().dtype(dtype).requires_grad(false));
  HB_CHECK(state.sizes().equals(shape), "[Adafactor] expected a state of shape ", IntArrayRef(shape), ", got ",
           state.sizes());
  if (state.scalar_type() != dtype || !state.is_contiguous()) state = state.to(dtype).contiguous();
  return state.impl().visible_data();
}

void fill_factors(FactoredTensor& t, AdafactorParamState& state, const Tensor& param) {
  const ScalarType dtype = param.scalar_type() == kDouble ? kDouble : kFloat;
  auto shape = param.sizes().vec();
  if (param.dim() < 2) {
    t.batch = 1, t.rows = 1, t.cols = param.numel();
    t.variance = factor(state.variance(), shape, dtype, param);
    return;
  }
  t.cols = shape.back(), t.rows = shape[shape.size() - 2];
  t.batch = t.rows * t.cols == 0 ? 0 : param.numel() / (t.rows * t.cols);
  auto row = shape, col = shape;
  row.back() = 1, col[col.size() - 2] = 1;
  t.row_var = factor(state.row_var(), row, dtype, param);
  t.col_var = factor(state.col_var(), col, dtype, param);
}

void update(Adafactor& self, const std::vector<Tensor>& grads) {
  size_t at = 0;
  for (auto& group : self.param_groups()) {
    const auto& o = static_cast<const AdafactorOptions&>(group.options());
    for (auto& p : group.params()) {
      const Tensor& grad = grads[at++];
      if (!grad.defined()) continue;
      if (p.is_complex()) HB_NOT_SUPPORTED("[Adafactor] complex parameters; register their view_as_real instead");
      auto& state = state_of<AdafactorParamState>(self.state(), p);
      // The factors belong to the order of a contiguous parameter.
      Tensor param = p.is_contiguous() ? p : p.detach().contiguous();
      StepTensors tensors("Adafactor", scaling_of(self));
      UpdateCall call{};
      call.maximize = o.maximize();
      FactoredTensor t{};
      t.tensor = tensors.add(call, param, grad.contiguous(), &state, {});
      t.tensor.step = state.step_counter().data(p.device());
      fill_factors(t, state, p);
      call.grad_scale = tensors.grad_scale(p.device());
      call.found_inf = tensors.found_inf(p.device());
      const double eps1 = std::get<0>(o.eps()).value_or(epsilon_of(t.tensor.master ? kFloat : p.scalar_type()));
      adafactor_update(p.device())(call, t,
                                   {o.lr(), o.beta2_decay(), eps1, std::get<1>(o.eps()), o.d(), o.weight_decay()});
      tensors.finish();
      if (!param.is_same(p)) p.copy_(param);
    }
  }
}
}  // namespace

Tensor Adafactor::step(const std::vector<Tensor>& grads, LossClosure closure) {
  return whole_step("Adafactor", *this, grads, closure, [&] { update(*this, grads); });
}

}  // namespace hb::bridge::optim
