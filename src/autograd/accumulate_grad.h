#pragma once

#include <mutex>

#include "autograd/names.h"

namespace hb {

/// The end of a graph: adds what arrives to the `.grad()` of a leaf, also where backward passes of several threads
/// meet.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "AccumulateGrad"; }
  const Tensor& variable() const { return variable_; }

 private:
  Tensor variable_;
  std::mutex mutex_;  // of the sum
};

/// Adds `update` to `sum` (which may be undefined); takes over or changes memory that nobody else holds.
void accumulate(Tensor& sum, Tensor update);

}  // namespace hb
