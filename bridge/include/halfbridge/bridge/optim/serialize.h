#pragma once
// For optimizers of one's own: save() and load() in LibTorch's layout.

#include <deque>
#include <memory>
#include <string>

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/ops/factories.h>

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

/// Writes a container of tensors under `key`.
template <class Buffers>
void serialize(serialize::OutputArchive& archive, const std::string& key, const Buffers& buffers) {
  archive.write(key + "/size", hb::tensor(static_cast<int64_t>(buffers.size())));
  size_t i = 0;
  for (const auto& buffer : buffers) archive.write(key + "/" + std::to_string(i++), buffer, /*is_buffer=*/true);
}
/// Reads it.
template <class Buffers>
void serialize(serialize::InputArchive& archive, const std::string& key, Buffers& buffers) {
  Tensor size;
  archive.read(key + "/size", size);
  buffers.clear();
  for (int64_t i = 0, n = size.template item<int64_t>(); i < n; ++i) {
    buffers.emplace_back();
    archive.read(key + "/" + std::to_string(i), buffers.back(), /*is_buffer=*/true);
  }
}

template <class T>
List<T> deque_to_list(const std::deque<T>& values) {
  List<T> list;
  for (const T& value : values) list.push_back(value);
  return list;
}
template <class T>
std::deque<T> list_to_deque(const List<T>& list) {
  std::deque<T> values;
  for (size_t i = 0; i < list.size(); ++i) values.push_back(list.get(i));
  return values;
}

}  // namespace hb::bridge::optim
