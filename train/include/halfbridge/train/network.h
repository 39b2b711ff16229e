#pragma once
// A network of any class, as the training layer calls it: tensors in, tensors out.

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <halfbridge/bridge/nn/module.h>

namespace hb::train {

namespace detail {
template <class M, class Indices, class = void>
struct TakesTensors : std::false_type {};
template <class M, size_t... I>
struct TakesTensors<
    M, std::index_sequence<I...>,
    std::void_t<decltype(std::declval<M&>().forward((static_cast<void>(I), std::declval<Tensor&>())...))>>
    : std::true_type {};

template <class M, size_t... I>
bool call_network(bridge::nn::ModuleHolder<M>& holder, const variable_list& inputs, variable_list& outputs,
                  std::index_sequence<I...> indices) {
  if constexpr (TakesTensors<M, decltype(indices)>::value) {
    if (inputs.size() != sizeof...(I)) return false;
    variable_list in = inputs;
    auto result = holder(in[I]...);
    bridge::nn::TensorPointers found;
    bridge::nn::detail::collect_tensors(result, found);
    for (Tensor* t : found) outputs.push_back(*t);
    return true;
  } else {
    return false;
  }
}
}  // namespace detail

/// A handle on a module with a `forward` that takes one to six tensors. Made of a module holder or a shared_ptr to a
/// module; copies share it.
class Network {
 public:
  template <class M>
  Network(const bridge::nn::ModuleHolder<M>& holder) : Network(holder.ptr()) {}  // NOLINT: implicit
  template <class M, class = std::enable_if_t<std::is_base_of_v<bridge::nn::Module, M>>>
  Network(std::shared_ptr<M> module) : module_(module) {  // NOLINT: implicit
    forward_ = [holder = bridge::nn::ModuleHolder<M>(std::move(module))](const variable_list& in) mutable {
      variable_list out;
      const bool called = detail::call_network(holder, in, out, std::make_index_sequence<1>()) ||
                          detail::call_network(holder, in, out, std::make_index_sequence<2>()) ||
                          detail::call_network(holder, in, out, std::make_index_sequence<3>()) ||
                          detail::call_network(holder, in, out, std::make_index_sequence<4>()) ||
                          detail::call_network(holder, in, out, std::make_index_sequence<5>()) ||
                          detail::call_network(holder, in, out, std::make_index_sequence<6>());
      HB_CHECK(called, "[network] expected ", holder->name(), " to have a forward() of ", in.size(),
               " tensors, which it has not");
      return out;
    };
  }

  /// The tensors among what forward returns, in order. Hooks of the module run.
  variable_list operator()(const variable_list& inputs) const { return forward_(inputs); }
  bridge::nn::Module& module() const { return *module_; }
  const std::shared_ptr<bridge::nn::Module>& ptr() const { return module_; }

 private:
  std::shared_ptr<bridge::nn::Module> module_;
  std::function<variable_list(const variable_list&)> forward_;
};

}  // namespace hb::train
