#pragma once
// Mixed-precision levels of whole networks.
//
//   O0    nothing changes
//   O1    modules of the white list compute in half: their inputs and weights are cast in, their outputs back to
//   float32 O2    the network is half, but for modules of the black list, which stay in float32 (casts in and back
//   around them) O3    the network is half auto  the network runs under autocast: every function in the precision that
//   suits it
//
// Parameters stay in float32 in O1 and auto. The levels work through hooks (bridge/nn/hooks.h): the casts of the
// network's own inputs and outputs, and `auto` for functions that its forward calls itself, need the network to be
// called as `net(x)`; its library modules follow the level however it is called.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::amp {

enum class Level { O0, O1, O2, O3, automatic };
/// "O0" to "O3" or "auto"; throws ValueError for another word.
HB_API Level parse_level(const std::string& word);
HB_API const char* to_string(Level level);

/// Classes of modules, by the class or its holder: `types.add<nn::Linear, MyBlockImpl>()`. Classes derived from a
/// listed one are of the list too.
class ModuleTypes {
 public:
  template <class... Modules>
  ModuleTypes& add() {
    (add_one<Modules>(), ...);
    return *this;
  }
  template <class... Modules>
  ModuleTypes& remove() {
    (remove_one(name_of<Modules>()), ...);
    return *this;
  }
  bool contains(const bridge::nn::Module& module) const {
    for (const auto& entry : entries_)
      if (entry.second(module)) return true;
    return false;
  }
  size_t size() const { return entries_.size(); }
  /// Class names, for messages.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : entries_) all.push_back(entry.first);
    return all;
  }

 private:
  template <class M, bool holder = bridge::nn::detail::is_module_holder<M>::value>
  struct ClassOf {
    using type = M;
  };
  template <class M>
  struct ClassOf<M, true> {
    using type = typename M::ContainedType;
  };
  template <class M>
  static std::string name_of() {
    return bridge::demangle(typeid(typename ClassOf<M>::type).name());
  }
  template <class M>
  void add_one() {
    using Class = typename ClassOf<M>::type;
    remove_one(name_of<M>());
    entries_.emplace_back(name_of<M>(),
                          [](const bridge::nn::Module& m) { return dynamic_cast<const Class*>(&m) != nullptr; });
  }
  void remove_one(const std::string& name) {
    for (size_t i = entries_.size(); i-- > 0;)
      if (entries_[i].first == name) entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::vector<std::pair<std::string, std::function<bool(const bridge::nn::Module&)>>> entries_;
};

/// The lists of O1 and O2 to begin with; change the copy and give it to custom_mixed_precision. White: linear layers,
/// convolutions, recurrent layers and cells, attention. Black: batch, instance, layer and group norms, losses.
HB_API ModuleTypes get_white_list();
HB_API ModuleTypes get_black_list();
/// The batch norms, which keep_batchnorm_fp32 is about.
HB_API ModuleTypes batch_norms();

/// What auto_mixed_precision may be told besides the level.
struct HB_API LevelOptions {
  HB_ARG(ScalarType, dtype) = kHalf;
  /// O2 keeps them in float32 and O3 does not, unless said otherwise.
  HB_ARG(std::optional<bool>, keep_batchnorm_fp32) = std::nullopt;
};

/// Brings a network to a level, in place. Make the optimizer before or after, as you like; O2 and O3 change parameters
/// to half, for which it should use_master_weights() (build_train_network and initialize see to that in O2).
HB_API void apply_level(bridge::nn::Module& net, Level level, const LevelOptions& options = {});

/// The same, and the network again: `net = auto_mixed_precision(net, "O2")`.
template <class Net>
Net auto_mixed_precision(Net net, const std::string& level = "auto", ScalarType dtype = kHalf) {
  apply_level(*net, parse_level(level), LevelOptions().dtype(dtype));
  return net;
}
template <class Net>
Net auto_mixed_precision(Net net, const std::string& level, const LevelOptions& options) {
  apply_level(*net, parse_level(level), options);
  return net;
}

/// O1 with a white list, or O2 with a black list, of one's own. Throws unless exactly one is given.
HB_API void apply_lists(bridge::nn::Module& net, const std::optional<ModuleTypes>& white_list,
                        const std::optional<ModuleTypes>& black_list, ScalarType dtype = kHalf);
template <class Net>
Net custom_mixed_precision(Net net, const std::optional<ModuleTypes>& white_list,
                           const std::optional<ModuleTypes>& black_list = std::nullopt, ScalarType dtype = kHalf) {
  apply_lists(*net, white_list, black_list, dtype);
  return net;
}

/// From now on this module, with all below it, computes in `dtype`: floating inputs are cast to it, a half dtype runs
/// under autocast with parameters left in float32, and float32 runs with autocast off and half parameters cast back.
/// Outputs are cast to the dtype of the first floating input. A later call replaces an earlier one.
HB_API void set_compute_dtype(bridge::nn::Module& module, ScalarType dtype);
template <class M>
M to_float(M module, ScalarType dtype) {
  set_compute_dtype(*module, dtype);
  return module;
}

/// The float32 values that parameters had before a level made them half.
using FullPrecision = std::vector<std::pair<Tensor, Tensor>>;  // (parameter, its old values)
/// As apply_level; returns what it rounded.
HB_API FullPrecision apply_level_keeping(bridge::nn::Module& net, Level level, const LevelOptions& options);

}  // namespace hb::amp
