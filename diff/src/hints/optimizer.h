// The rule of an optimizer's step, found from parameter, gradient, states and update.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <halfbridge/tensor.h>

namespace hb::layer_diff::hints {

struct UpdateData {
  Tensor parameter, gradient, updated;
  std::map<std::string, Tensor> states,
      states_before;  // after and before the step, by name: exp_avg, momentum_buffer, …
  int64_t steps = 1;  // the number of this step, from 1
};

struct UpdateRule {
  std::string kind;                      // SGD, Adam, AdamW
  std::map<std::string, double> values;  // lr, momentum, weight_decay, eps, beta1, beta2: those that show
  double max_abs = 0;                    // that it leaves of the update
};
/// Nothing where no rule gives the update up to rounding.
std::optional<UpdateRule> fit_update(const UpdateData& data);

}  // namespace hb::layer_diff::hints
