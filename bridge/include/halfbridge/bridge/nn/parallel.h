#pragma once
// One module on several devices, a part of the batch on each. DistributedDataParallel (distributed.h) is the faster
// way.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/bridge/nn/pimpl.h>

namespace hb::bridge::nn::parallel {

namespace detail {
/// What arrives at parameters (and buffers that require a gradient) of `replicas`, clones of `module`, flows on to
/// those of `module`, summed.
HB_API void join_gradients(const Module& module, const std::vector<std::shared_ptr<Module>>& replicas);
/// call(0) to call(count - 1), in parallel, in the modes of the calling thread. Throws what the first that fails
/// throws.
HB_API void each_in_parallel(size_t count, const std::function<void(size_t)>& call);
/// Parts of `input` along `dim`, each on its device; fewer parts than devices where there is less to share.
HB_API std::vector<Tensor> scatter(const Tensor& input, const std::vector<Device>& devices, int64_t dim);
/// The parts in one tensor along `dim`; scalars become a vector.
HB_API Tensor gather(const std::vector<Tensor>& parts, const Device& device, int64_t dim);
/// Those of CUDA; throws where there are none.
HB_API std::vector<Device> all_devices();
}  // namespace detail

/// A clone of `module` on each device; a backward pass sums the gradients of all into those of `module`.
template <typename ModuleType>
std::vector<std::shared_ptr<ModuleType>> replicate(const std::shared_ptr<ModuleType>& module,
                                                   const std::vector<Device>& devices) {
  std::vector<std::shared_ptr<ModuleType>> replicas;
  for (const Device& device : devices) replicas.push_back(std::dynamic_pointer_cast<ModuleType>(module->clone(device)));
  detail::join_gradients(*module, {replicas.begin(), replicas.end()});
  return replicas;
}
template <typename ModuleType>
std::vector<ModuleHolder<ModuleType>> replicate(const ModuleHolder<ModuleType>& module,
                                                const std::vector<Device>& devices) {
  const auto replicas = replicate(module.ptr(), devices);
  return {replicas.begin(), replicas.end()};
}

/// modules[i]->forward(inputs[i]) for all i, in parallel, the results on devices[i] (without devices: on the input's).
template <typename ModuleType>
std::vector<Tensor> parallel_apply(std::vector<ModuleType>& modules, const std::vector<Tensor>& inputs,
                                   const std::optional<std::vector<Device>>& devices = std::nullopt) {
  HB_CHECK(modules.size() == inputs.size(), "Must have as many inputs as modules");
  HB_CHECK(!devices || modules.size() == devices->size(), "Must have as many devices as modules");
  std::vector<Tensor> outputs(modules.size());
  detail::each_in_parallel(modules.size(), [&](size_t i) {
    outputs[i] = modules[i]->forward(inputs[i]).to(devices ? (*devices)[i] : inputs[i].device());
  });
  return outputs;
}

/// The result of `module` for `input`, a part along `dim` on each device, on `output_device` (without one: the first).
/// Without devices: those of CUDA, an error where there are none.
template <typename ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  if (!devices) devices = detail::all_devices();
  HB_CHECK(!devices->empty(), "[data_parallel] expected at least one device");
  const Device result_device = output_device.value_or(devices->front());
  if (devices->size() == 1) {
    module->to(devices->front());
    return module->forward(input.to(devices->front())).to(result_device);
  }
  const std::vector<Tensor> inputs = detail::scatter(input, *devices, dim);
  devices->resize(inputs.size(), devices->front());
  auto replicas = replicate(module, *devices);
  return detail::gather(parallel_apply(replicas, inputs, devices), result_device, dim);
}

}  // namespace hb::bridge::nn::parallel
