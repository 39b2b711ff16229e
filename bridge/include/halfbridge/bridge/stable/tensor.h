#pragma once
// Tensors and devices as extensions for several versions of LibTorch see them (torch::stable): the engine's behind an
// interface that has little but what a tensor is.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <halfbridge/device.h>
#include <halfbridge/tensor.h>

namespace hb::bridge::stable {

using hb::DeviceType;
using hb::Layout;
using hb::ScalarType;
using DeviceIndex = int32_t;

class Device {
 public:
  Device(DeviceType type, DeviceIndex index = -1) : device_(type, static_cast<hb::DeviceIndex>(index)) {}
  Device(const std::string& text) : device_(text) {}
  template <class D, class = std::enable_if_t<std::is_same_v<D, hb::Device>>>  // no other text or type is one
  Device(const D& device) : device_(device) {}
  operator hb::Device() const { return device_; }

  DeviceType type() const noexcept { return device_.type(); }
  DeviceIndex index() const noexcept { return device_.index(); }
  bool has_index() const noexcept { return device_.has_index(); }
  void set_index(DeviceIndex index) { device_ = hb::Device(type(), static_cast<hb::DeviceIndex>(index)); }
  bool is_cuda() const noexcept { return type() == DeviceType::CUDA; }
  bool is_cpu() const noexcept { return type() == DeviceType::CPU; }
  bool operator==(const Device& other) const noexcept { return device_ == other.device_; }
  bool operator!=(const Device& other) const noexcept { return !(*this == other); }

 private:
  hb::Device device_;
};

/// A tensor of the engine's: copies are the same tensor.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(hb::Tensor tensor) : tensor_(std::move(tensor)) {}
  const hb::Tensor& of_engine() const { return tensor_; }

  void* data_ptr() const { return tensor_.data_ptr(); }
  void* mutable_data_ptr() const { return tensor_.mutable_data_ptr(); }
  const void* const_data_ptr() const { return tensor_.const_data_ptr(); }
  template <class T>
  T* mutable_data_ptr() const {
    return tensor_.mutable_data_ptr<T>();
  }
  template <class T, std::enable_if_t<!std::is_const_v<T>, int> = 0>
  const T* const_data_ptr() const {
    return tensor_.const_data_ptr<T>();
  }
  const Tensor& set_requires_grad(bool requires_grad) const {
    tensor_.requires_grad_(requires_grad);
    return *this;
  }

  bool defined() const { return tensor_.defined(); }
  int64_t dim() const { return tensor_.dim(); }
  int64_t numel() const { return tensor_.numel(); }
  IntArrayRef sizes() const { return tensor_.sizes(); }
  IntArrayRef strides() const { return tensor_.strides(); }
  int64_t size(int64_t dim) const { return tensor_.size(dim); }
  int64_t stride(int64_t dim) const { return tensor_.stride(dim); }
  int64_t storage_offset() const { return tensor_.storage_offset(); }
  bool is_contiguous() const { return tensor_.is_contiguous(); }
  size_t element_size() const { return tensor_.element_size(); }
  ScalarType scalar_type() const { return tensor_.scalar_type(); }
  Layout layout() const { return tensor_.layout(); }
  Device device() const { return tensor_.device(); }
  int8_t get_device() const { return static_cast<int8_t>(tensor_.get_device()); }
  DeviceIndex get_device_index() const { return static_cast<DeviceIndex>(tensor_.get_device()); }
  bool is_cuda() const { return tensor_.is_cuda(); }
  bool is_cpu() const { return tensor_.is_cpu(); }

 private:
  hb::Tensor tensor_;
};

}  // namespace hb::bridge::stable
