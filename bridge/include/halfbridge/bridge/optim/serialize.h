#pragma once
// For optimizers of one's own: save() and load() in LibTorch's layout.

#include <memory>

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/bridge/serialize/archive.h>

namespace hb::bridge::optim {

namespace detail {
using StateFactory = std::unique_ptr<OptimizerParamState> (*)();
using OptionsFactory = std::unique_ptr<OptimizerOptions> (*)();
HB_API void save(serialize::OutputArchive& archive, const Optimizer& optimizer);
/// Changes the optimizer only if all of the archive can be read.
HB_API void load(serialize::InputArchive& archive, Optimizer& optimizer, StateFactory new_state,
                 OptionsFactory new_options);
}  // namespace detail

/// Writes the state of all parameters and the options of all groups.
template <class ParamState, class Options>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  detail::save(archive, optimizer);
}
/// Reads them; the groups must have as many parameters as those that were saved.
template <class ParamState, class Options>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  detail::load(
      archive, optimizer, []() -> std::unique_ptr<OptimizerParamState> { return std::make_unique<ParamState>(); },
      []() -> std::unique_ptr<OptimizerOptions> { return std::make_unique<Options>(0); });
}

}  // namespace hb::bridge::optim
