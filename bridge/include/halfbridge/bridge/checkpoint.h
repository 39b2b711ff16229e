#pragma once
// torch::checkpoint: memory for time. What the function's operations would keep for the backward pass is computed again
// when the backward pass comes to it.

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <halfbridge/autograd.h>
#include <halfbridge/bridge/nn/hooks.h>

namespace hb::bridge {

namespace detail {

/// While it lives, tensors saved for the backward pass on this thread are given up; `again` (which gets `inputs` back)
/// makes them again.
class HB_API CheckpointScope {
 public:
  using Again = std::function<void(const variable_list& inputs)>;
  CheckpointScope(const variable_list& inputs, Again again);
  ~CheckpointScope();
  CheckpointScope(const CheckpointScope&) = delete;
  CheckpointScope& operator=(const CheckpointScope&) = delete;

 private:
  struct State;
  State* state_;
};

template <class F, class Inputs>
struct CheckpointCall {
  F function;
  Inputs inputs;  // without their tensors, which the scope keeps

  nn::TensorPointers tensors() {
    nn::TensorPointers found;
    nn::detail::collect_tensors(inputs, found);
    return found;
  }
  void run(const variable_list& values) {
    CheckpointCall copy(*this);
    const auto slots = copy.tensors();
    for (size_t i = 0; i < slots.size(); ++i) *slots[i] = values[i];
    std::apply(copy.function, copy.inputs);
  }
};

}  // namespace detail

inline namespace api {

/// `function(inputs...)`, whose operations keep nothing for the backward pass: there the function is called once more,
/// with the random numbers and the autocast state of the first call. Inputs may be tensors, vectors, pairs and tuples
/// of them, and any other values that can be copied; the function (a callable or a module holder) is copied too. It may
/// return anything, may be called inside another checkpoint, and need not have an input that requires a gradient.
/// Gradients are those of the plain call, also of `torch::autograd::grad` and with create_graph. Throws in the backward
/// pass if the second call saves other tensors (number, shape, dtype, device) than the first. Side effects of the
/// function, running statistics of batch normalisation included, happen twice.
template <class F, class... Inputs,
          class = std::enable_if_t<std::is_invocable_v<std::decay_t<F>&, std::decay_t<Inputs>&...>>>
auto checkpoint(F&& function, Inputs&&... inputs) -> std::invoke_result_t<std::decay_t<F>&, std::decay_t<Inputs>&...> {
  using Call = bridge::detail::CheckpointCall<std::decay_t<F>, std::tuple<std::decay_t<Inputs>...>>;
  Call first{std::forward<F>(function), {std::forward<Inputs>(inputs)...}};
  if (!GradMode::is_enabled()) return std::apply(first.function, first.inputs);
  auto again = std::make_shared<Call>(first);
  variable_list tensors;
  for (Tensor* t : again->tensors()) tensors.push_back(std::exchange(*t, Tensor()));
  bridge::detail::CheckpointScope scope(tensors, [again](const variable_list& values) { again->run(values); });
  return std::apply(first.function, first.inputs);
}

}  // namespace api
}  // namespace hb::bridge
