#include <halfbridge/bridge/optim/sgd.h>

#include "autograd/overlooked.h"
#include "checks.h"
#include "fields.h"
#include "sparse_gradient.h"
#include "step.h"

namespace hb::bridge::optim {

#define SGD_OPTIONS(_) _(lr) _(momentum) _(dampening) _(weight_decay) _(nesterov)
#define SGD_EXTRA(_) _(maximize)
HB_OPTIONS_BOILERPLATE(SGDOptions, SGD_OPTIONS, SGD_EXTRA)
HB_OPTIMIZER_FILES(SGD, SGDParamState)
template class OptimizerCloneableParamState<SGDParamState>;

// Files and Python do not have a buffer that waits for its first gradient.
void SGDParamState::serialize(serialize::OutputArchive& archive) const {
  if (step() != 0) FieldWriter{archive}("momentum_buffer", momentum_buffer());
}
void SGDParamState::serialize(serialize::InputArchive& archive) {
  FieldReader{archive}("momentum_buffer", momentum_buffer());
}
IValue SGDParamState::state_dict() const {
  Dict<std::string, IValue> dict = new_value_dict();
  dict.insert("momentum_buffer", step() != 0 ? to_value(momentum_buffer()) : IValue());
  add_master_weight(dict, *this);
  return dict;
}
void SGDParamState::load_state_dict(const IValue& from) {
  const Dict<IValue, IValue> dict = from.toGenericDict();
  from_python_state(dict, "momentum_buffer", momentum_buffer());
  read_master_weight(dict, *this);
}
bool operator==(const SGDParamState& a, const SGDParamState& b) {
  return same_value(a.momentum_buffer(), b.momentum_buffer());
}

SGDOptions::SGDOptions(double lr) : lr_(lr) {}

SGD::SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<SGDOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.momentum(), "momentum value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
  HB_CHECK(!defaults.nesterov() || (defaults.momentum() > 0 && defaults.dampening() == 0),
           "Nesterov momentum requires a momentum and zero dampening");
}

// Without momentum only the rows that the gradient lists are touched. The momentum of all elements decays at each step.
static Tensor take_sparse(Optimizer& optimizer, const SGDOptions& o, const Tensor& param, const Tensor& grad) {
  HB_CHECK(o.weight_decay() == 0, "[SGD] weight_decay option is not compatible with sparse gradients");
  if (o.momentum() != 0 || (optimizer.uses_master_weights() && is_half_type(param.scalar_type())))
    return grad.to_dense();
  const Tensor g = unscaled_sparse(optimizer, grad);
  if (g.defined()) param.detach().add_(g, o.maximize() ? o.lr() : -o.lr());
  return {};
}

Tensor SGD::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const SGDOptions& o) {
    const bool momentum = o.momentum() != 0;
    const unsigned flags = flag_if(o.weight_decay() != 0, SgdRule::kWeightDecay) |
                           flag_if(momentum, SgdRule::kMomentum) |
                           flag_if(momentum && o.nesterov(), SgdRule::kNesterov);
    return GroupRule<SgdRule>{{o.lr(), o.momentum(), o.dampening(), o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const SGDOptions& o, SGDParamState& s, const Tensor&) {
    if (o.momentum() == 0) return StateRefs{};
    if (!s.momentum_buffer().defined()) s.step(0);
    return StateRefs{{&s.momentum_buffer()}, &s.step_counter()};
  };
  // LibTorch's SGD writes through param.data(): graphs that saved a parameter do not mind.
  std::vector<OverlookedWrites> overlooked;
  for (const auto& group : param_groups())
    for (const Tensor& p : group.params()) overlooked.emplace_back(p);
  return fused_step<SGDOptions, SGDParamState>(*this, sgd_update, grads, closure, make, refs,
                                               [](const SGDOptions& o) { return o.momentum() != 0; });
}

}  // namespace hb::bridge::optim
