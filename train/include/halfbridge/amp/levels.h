#pragma once
// Mixed-precision levels of whole networks.
//
//   O0    nothing changes
//   O1    modules and functions of the white list compute in half: their inputs and weights are cast in, their results
//         back to float32
//   O2    all is half, but for modules and functions of the black list, which stay in float32 (casts in and back
//         around them)
//   O3    all is half
//   auto  on CUDA O2; on the CPU autocast: every function in the precision that suits it
//
// Parameters stay in float32 at every level, and their gradients are float32. What computes in half gets half copies
// of them, which are made when a parameter changed and serve every pass until it changes again.
//
// The levels work through hooks (bridge/nn/hooks.h): the casts of the network's own inputs and outputs, and of the
// functions that its forward calls itself, need the network to be called as `net(x)`; its library modules follow the
// level however it is called.

#include <optional>
#include <string>
#include <vector>

#include <halfbridge/amp/cast_list.h>
#include <halfbridge/bridge/nn/module.h>

namespace hb::amp {

enum class Level { O0, O1, O2, O3, automatic };
/// "O0" to "O3" or "auto"; throws ValueError for another word.
HB_API Level parse_level(const std::string& word);
HB_API const char* to_string(Level level);
/// What a level means for networks on a type of device: `auto` is O2 on CUDA and itself (autocast) on the CPU. Throws
/// for devices that have no mixed precision, unless the level is O0.
HB_API Level level_for(Level level, DeviceType device);

/// What auto_mixed_precision may be told besides the level.
struct HB_API LevelOptions {
  HB_ARG(ScalarType, dtype) = kHalf;
  /// O2 keeps them in float32 and O3 does not, unless said otherwise.
  HB_ARG(std::optional<bool>, keep_batchnorm_fp32) = std::nullopt;
};

/// Brings a network to a level, in place; a later call replaces an earlier one. Modules that to_float() was told about
/// keep their dtype. Make the optimizer before or after, as you like.
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
HB_API void apply_lists(bridge::nn::Module& net, const std::optional<CastList>& white_list,
                        const std::optional<CastList>& black_list, ScalarType dtype = kHalf);
template <class Net>
Net custom_mixed_precision(Net net, const std::optional<CastList>& white_list,
                           const std::optional<CastList>& black_list = std::nullopt, ScalarType dtype = kHalf) {
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

/// The half copies that the level of a network keeps of its parameters.
struct HalfCopies {
  int64_t tensors = 0, bytes = 0;
  int64_t made = 0;  // casts of parameters since the level was applied
};
/// Zeros for a network without a level.
HB_API HalfCopies half_copies(const bridge::nn::Module& net);

}  // namespace hb::amp
