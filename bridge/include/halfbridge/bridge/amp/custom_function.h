#pragma once
// torch::amp::custom_fwd and custom_bwd: how an autograd::Function of a program's own behaves under autocast.

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/autocast.h>
#include <halfbridge/bridge/autograd_function.h>

namespace hb::amp {

namespace detail {
/// Keeps in ctx whether backward runs under autocast, and its dtype ("_fwd_used_autocast", "_dtype").
HB_API void remember_autocast(autodiff::AutogradContext* ctx, DeviceType device, bool used);
/// The guard under which backward runs; throws if forward did not go through custom_fwd.
HB_API AutocastGuard recall_autocast(autodiff::AutogradContext* ctx, DeviceType device);

// Only what autocast would cast: floating tensors of this device, not float64.
HB_API Tensor cast_input(ScalarType dtype, DeviceType device, const Tensor& t);
inline std::optional<Tensor> cast_input(ScalarType dtype, DeviceType device, const std::optional<Tensor>& t) {
  return t ? std::optional<Tensor>(cast_input(dtype, device, *t)) : std::nullopt;
}
HB_API std::vector<Tensor> cast_input(ScalarType dtype, DeviceType device, const std::vector<Tensor>& list);
template <class T>
const T& cast_input(ScalarType, DeviceType, const T& other) {
  return other;
}
}  // namespace detail

/// Runs `body(args...)`, the work of forward, and lets backward run under the same autocast state (see custom_bwd).
///   static Tensor forward(AutogradContext* ctx, Tensor a, Tensor b) {
///     return torch::amp::custom_fwd(ctx, torch::kCPU, [&](const Tensor& x, const Tensor& y) {
///       ctx->save_for_backward({x, y});
///       return x.mm(y);
///     }, a, b);
///   }
template <class Body, class... Args>
auto custom_fwd(autodiff::AutogradContext* ctx, DeviceType device, Body&& body, Args&&... args)
    -> std::enable_if_t<!std::is_convertible_v<Body, std::optional<ScalarType>>,
                        decltype(body(std::forward<Args>(args)...))> {
  detail::remember_autocast(ctx, device, hb::autocast::is_autocast_enabled(device));
  return body(std::forward<Args>(args)...);
}

/// The same for an operation that needs one dtype: under autocast, `body` runs with autocast off on inputs cast to
/// `cast_inputs`, and backward with autocast off too. Outside autocast nothing is cast.
template <class Body, class... Args>
auto custom_fwd(autodiff::AutogradContext* ctx, DeviceType device, std::optional<ScalarType> cast_inputs, Body&& body,
                Args&&... args) -> decltype(body(detail::cast_input(kFloat, device, args)...)) {
  const bool used = hb::autocast::is_autocast_enabled(device);
  detail::remember_autocast(ctx, device, used && !cast_inputs);
  if (!used || !cast_inputs) return body(args...);
  AutocastGuard off(device, std::nullopt, false);
  return body(detail::cast_input(*cast_inputs, device, args)...);
}

/// Runs `body()`, the work of backward, under the autocast state (and dtype) of forward, whatever it is now.
///   static variable_list backward(AutogradContext* ctx, variable_list grads) {
///     return torch::amp::custom_bwd(ctx, torch::kCPU, [&]() -> variable_list { … });
///   }
template <class Body>
auto custom_bwd(autodiff::AutogradContext* ctx, DeviceType device, Body&& body) -> decltype(body()) {
  const AutocastGuard guard = detail::recall_autocast(ctx, device);
  return body();
}

}  // namespace hb::amp
