#include <halfbridge/bridge/optim/adagrad.h>

#include <halfbridge/ops/sparse.h>

#include "checks.h"
#include "fields.h"
#include "sparse_gradient.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADAGRAD_OPTIONS(_) _(lr) _(lr_decay) _(weight_decay) _(initial_accumulator_value) _(eps)
#define ADAGRAD_EXTRA(_) _(maximize)
#define ADAGRAD_STATE(_) _(sum) _(step)
HB_OPTIMIZER_BOILERPLATE(Adagrad, ADAGRAD_OPTIONS, ADAGRAD_EXTRA, ADAGRAD_STATE)

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

namespace {
// Not part of a step that is recorded, which goes on from what it finds.
void start(AdagradParamState& state, const Tensor& param, double value, ScalarType dtype) {
  const hb::capture::Inside unrecorded;
  state.sum(zero_state(param, dtype));
  if (value != 0) state.sum().fill_(value);
}
}  // namespace

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdagradOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.lr_decay(), "lr_decay value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
  check_not_negative(defaults.initial_accumulator_value(), "initial_accumulator_value value");
  check_not_negative(defaults.eps(), "epsilon value");
  NoGradGuard no_grad;
  for (const auto& group : param_groups_)
    for (const auto& p : group.params())
      start(state_of<AdagradParamState>(state_, p), p, defaults.initial_accumulator_value(), p.scalar_type());
}

// Rows that the gradient lists are updated; accumulators of the others do not change.
static Tensor take_sparse(Optimizer& optimizer, const AdagradOptions& o, const Tensor& param, const Tensor& grad) {
  HB_CHECK(o.weight_decay() == 0, "[Adagrad] weight_decay option is not compatible with sparse gradients");
  HB_CHECK(!optimizer.uses_master_weights(), "[Adagrad] expected no master weights where gradients are sparse");
  const Tensor unscaled = unscaled_sparse(optimizer, grad);
  if (!unscaled.defined()) return {};
  auto& state = state_of<AdagradParamState>(optimizer.state(), param);
  if (!state.sum().defined()) start(state, param, o.initial_accumulator_value(), param.scalar_type());
  const int64_t step = state.step() + 1;
  state.step(step);
  const Tensor g = unscaled.coalesce(), values = o.maximize() ? g._values().neg() : g._values();
  const auto entries = [&](const Tensor& v) { return _sparse_coo_tensor_unsafe(g._indices(), v, g.sizes()); };
  state.sum().add_(entries(values.pow(2)));
  const Tensor scale = state.sum().sparse_mask(g)._values().sqrt_().add_(o.eps());
  param.detach().add_(entries(values / scale), -o.lr() / (1 + static_cast<double>(step - 1) * o.lr_decay()));
  return {};
}

Tensor Adagrad::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const AdagradOptions& o) {
    const unsigned flags = flag_if(o.weight_decay() != 0, AdagradRule::kWeightDecay);
    return GroupRule<AdagradRule>{{o.lr(), o.lr_decay(), o.eps(), o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [this](const AdagradOptions& o, AdagradParamState& s, const Tensor& param) {
    const ScalarType dtype = param.scalar_type();
    const ScalarType wanted = uses_master_weights() && is_half_type(dtype) ? kFloat : dtype;
    // Groups that were added later have no state yet; that of half parameters may have been made before master weights
    // were asked for.
    const bool unused = !s.step_counter().on_device() && s.step_counter() == 0;
    if (!s.sum().defined() || (unused && s.sum().scalar_type() == dtype && dtype != wanted))
      start(s, param, o.initial_accumulator_value(), wanted);
    return StateRefs{{&s.sum()}, &s.step_counter()};
  };
  return fused_step<AdagradOptions, AdagradParamState>(*this, adagrad_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
