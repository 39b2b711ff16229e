#pragma once
// for_blob: a tensor of the caller's memory, described step by step.

#include <functional>
#include <optional>
#include <utility>

#include <halfbridge/ops/factories.h>

namespace hb::bridge {
inline namespace api {

/// for_blob(data, sizes).strides({...}).deleter(f).options(kFloat).make_tensor(). The sizes and strides given must
/// outlive the call of make_tensor().
class HB_API TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}

  TensorMaker& strides(OptionalIntArrayRef value) { return strides_ = value, *this; }
  /// In elements.
  TensorMaker& storage_offset(std::optional<int64_t> value) { return offset_ = value, *this; }
  /// Called with `data` when the last tensor of it is gone.
  TensorMaker& deleter(std::function<void(void*)> value) { return deleter_ = std::move(value), *this; }
  /// Called with `context` instead.
  TensorMaker& context(void* context, void (*deleter)(void*) = nullptr) {
    if (deleter) deleter_ = [context, deleter](void*) { deleter(context); };
    return *this;
  }
  TensorMaker& target_device(std::optional<Device> device) {
    return device ? (options_ = options_.device(*device), *this) : *this;
  }
  TensorMaker& options(TensorOptions value) { return options_ = value, *this; }

  Tensor make_tensor();

 private:
  void* data_;
  IntArrayRef sizes_;
  OptionalIntArrayRef strides_;
  std::optional<int64_t> offset_;
  std::function<void(void*)> deleter_;
  TensorOptions options_;
};
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return {data, sizes}; }

}  // namespace api
}  // namespace hb::bridge
