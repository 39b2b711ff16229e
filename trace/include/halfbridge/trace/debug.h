#pragma once
// Prints what each layer computes.

#include <iosfwd>
#include <memory>
#include <string>
#include <utility>

#include <halfbridge/bridge/nn/module.h>

namespace hb {

/// Layers print as long as this lives.
class HB_API LayerInfo {
 public:
  LayerInfo(LayerInfo&&) noexcept;
  LayerInfo& operator=(LayerInfo&&) noexcept;
  ~LayerInfo();
  /// Ends it now.
  void remove();

 private:
  struct Hooks;
  friend LayerInfo debug_layer_info(bridge::nn::Module&, const std::string&, std::ostream&);
  explicit LayerInfo(std::unique_ptr<Hooks> hooks);
  std::unique_ptr<Hooks> hooks_;
};

/// From now on, each call of a layer of `net` (a module without submodules) prints its inputs, parameters, buffers and
/// outputs: name, shape, dtype and statistics over the finite elements. `naming`: "pytorch" (Conv2d, float32, names of
/// the state dict) or "halfbridge" (torch::nn::Conv2dImpl, Float). Throws hb::ValueError for another one. Statistics
/// read every element: this is for debugging. `net` must outlive what is returned, or be held by a shared_ptr.
[[nodiscard]] HB_API LayerInfo debug_layer_info(bridge::nn::Module& net, const std::string& naming, std::ostream& out);
/// To standard output.
[[nodiscard]] HB_API LayerInfo debug_layer_info(bridge::nn::Module& net, const std::string& naming = "pytorch");
/// For holders and shared pointers.
template <class Pointer>
[[nodiscard]] auto debug_layer_info(const Pointer& net, const std::string& naming = "pytorch")
    -> decltype(debug_layer_info(const_cast<bridge::nn::Module&>(static_cast<const bridge::nn::Module&>(*net)),
                                 naming)) {
  return debug_layer_info(const_cast<bridge::nn::Module&>(static_cast<const bridge::nn::Module&>(*net)), naming);
}
template <class Pointer>
[[nodiscard]] auto debug_layer_info(const Pointer& net, const std::string& naming, std::ostream& out)
    -> decltype(debug_layer_info(const_cast<bridge::nn::Module&>(static_cast<const bridge::nn::Module&>(*net)), naming,
                                 out)) {
  return debug_layer_info(const_cast<bridge::nn::Module&>(static_cast<const bridge::nn::Module&>(*net)), naming, out);
}

}  // namespace hb
