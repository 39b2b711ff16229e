// The rule of an optimizer's step, found from parameter, gradient, states and update.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/diff/report.h>
#include <halfbridge/tensor.h>

namespace hb::layer_diff::hints {

struct UpdateData {
  Tensor parameter, gradient, updated;
  std::map<std::string, Tensor> states,
      states_before;  // after and before the step, by name: exp_avg, momentum_buffer, …
  int64_t steps = 1;  // the number of this step, from 1
};

struct UpdateRule {
  std::string kind;  // SGD, Adam, AdamW
  // lr, momentum, dampening, nesterov, weight_decay, eps, beta1, beta2: those that show in the step. An eps of 0 is too
  // small to show.
  std::map<std::string, double> values;
  double max_abs = 0;          // that it leaves of the update
  bool assumes_betas = false;  // the moments before the step are not known: 0.9 and 0.999 were taken
};
/// Nothing where no rule gives the update up to rounding.
std::optional<UpdateRule> fit_update(const UpdateData& data);
/// Whether the rule gives this step up to rounding: the update, and the states as far as those before it are known.
bool explains(const UpdateRule& rule, const UpdateData& data);

/// Compares the rules of both sides' steps. Remembers the last rule: parameters of one group have the same.
class StepComparison {
 public:
  explicit StepComparison(const Report& report) : report_(report) {}
  /// What differs in the rules by which the parameter of these records (updated_parameter of one step) was updated;
  /// empty where nothing does, or where no rule is found. It looks at samples of large tensors.
  std::vector<Hint> hints(const Record& ref, const Record& test);

 private:
  const Report& report_;
  std::optional<UpdateRule> last_;
};

}  // namespace hb::layer_diff::hints
