#pragma once

#include <optional>
#include <vector>

#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/nn/module.h>

namespace hb::bridge::nn::parallel {

/// `module(input)` on the given device, the result on `output_device` (without one: the same). As LibTorch without
/// devices: those of CUDA, an error where there are none. More than one device is an error: this library computes on
/// one.
template <typename ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t /*dim*/ = 0) {
  HB_CHECK(devices, "[data_parallel] Expected at least one CUDA device to be available");
  HB_CHECK(devices->size() == 1, "[data_parallel] expected one device, got ", devices->size(),
           ": this library computes on one; call the module itself");
  module->to(devices->front());
  return module->forward(input.to(devices->front())).to(output_device.value_or(devices->front()));
}

}  // namespace hb::bridge::nn::parallel
