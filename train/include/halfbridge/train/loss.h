#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include <halfbridge/autograd.h>

namespace hb::train {

/// A loss as the training layer calls it: made of anything that takes (output, target), as nn::CrossEntropyLoss() or a
/// lambda, or (all outputs of the network as a vector, target).
class Loss {
 public:
  Loss() = default;
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Loss>>>
  Loss(F f) {  // NOLINT: implicit
    // In this order: a module holder answers to the first question only.
    if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&>) {
      call_ = [f = std::move(f)](const variable_list& outputs, const Tensor& target) mutable -> Tensor {
        HB_CHECK(outputs.size() == 1, "[loss] expected a network of one output, got ", outputs.size(),
                 "; give a loss that takes all of them as a vector");
        return f(outputs[0], target);
      };
    } else {
      call_ = std::move(f);
    }
  }
  explicit operator bool() const { return static_cast<bool>(call_); }
  Tensor operator()(const variable_list& outputs, const Tensor& target) const { return call_(outputs, target); }

 private:
  std::function<Tensor(const variable_list&, const Tensor&)> call_;
};

}  // namespace hb::train
