#include <halfbridge/bridge/optim/rprop.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define RPROP_OPTIONS(_) _(lr) _(etas) _(step_sizes)
#define RPROP_EXTRA(_) _(maximize)
#define RPROP_STATE(_) _(step) _(prev) _(step_size)
HB_OPTIMIZER_BOILERPLATE(Rprop, RPROP_OPTIONS, RPROP_EXTRA, RPROP_STATE)

Rprop::Rprop(const std::vector<OptimizerParamGroup>& param_groups, RpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RpropOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  const auto [minus, plus] = defaults.etas();
  HB_CHECK(0 < minus && minus < 1 && 1 < plus, "Invalid eta values: ", minus, ", ", plus);
}

Tensor Rprop::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const RpropOptions& o) {
    const unsigned flags = 0;
    return GroupRule<RpropRule>{{o.lr(), std::get<0>(o.etas()), std::get<1>(o.etas()), std::get<0>(o.step_sizes()),
                                 std::get<1>(o.step_sizes())},
                                flags,
                                o.maximize()};
  };
  const auto refs = [](const RpropOptions&, RpropParamState& s, const Tensor&) {
    return StateRefs{{&s.prev(), &s.step_size()}, &s.step_counter()};
  };
  return fused_step<RpropOptions, RpropParamState>(*this, rprop_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
