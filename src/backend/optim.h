#pragma once
// The update rules of the optimizers.
//
// A rule holds the hyper-parameters of a step; its Formula is the update of one element, in the order of operations of
// LibTorch's own steps, so that trajectories agree. T is what is computed in: float, or double for double parameters.
// Half parameters and states are widened before and rounded once after it.
//
// A rule may have `double begin(int64_t step, double scalar)`: it is told the number of the step, from 1, and the
// number that it carried from the step before (0 at first), and returns the one to carry on. Kernels call it, since
// only the device knows how many steps were skipped.

#include "formulas/update_rules/adam.h"
#include "formulas/update_rules/adaptive.h"
#include "formulas/update_rules/momentum.h"

namespace hb {

/// (rule, name of its kernel, name of the optimizer): a rule that is listed here has a kernel on every device.
#define HB_FORALL_UPDATE_RULES(_)              \
  _(SgdRule, sgd_update, "SGD")                \
  _(AdamRule, adam_update, "Adam")             \
  _(RmspropRule, rmsprop_update, "RMSprop")    \
  _(AdagradRule, adagrad_update, "Adagrad")    \
  _(AdamaxRule, adamax_update, "Adamax")       \
  _(AdadeltaRule, adadelta_update, "Adadelta") \
  _(NadamRule, nadam_update, "NAdam")          \
  _(RadamRule, radam_update, "RAdam")          \
  _(AsgdRule, asgd_update, "ASGD")             \
  _(RpropRule, rprop_update, "Rprop")          \
  _(LionRule, lion_update, "Lion")

#define HB_UPDATE_KERNEL(Rule, kernel, name) HB_API inline UpdateKernel<Rule> kernel{name};
HB_FORALL_UPDATE_RULES(HB_UPDATE_KERNEL)
#undef HB_UPDATE_KERNEL

}  // namespace hb
