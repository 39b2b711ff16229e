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
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}

  TensorMaker& strides(std::optional<IntArrayRef> value) { return strides_ = value, *this; }
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

  Tensor make_tensor() {
    if (!offset_) return strides_ ? blob(sizes_, *strides_) : blob(sizes_, std::nullopt);
    DimVector strides = strides_ ? DimVector(strides_->begin(), strides_->end()) : contiguous_strides();
    int64_t extent = *offset_ + 1;
    for (size_t d = 0; d < sizes_.size(); ++d) extent += (sizes_[d] - 1) * strides[d];
    return blob({extent}, std::nullopt).as_strided(sizes_, IntArrayRef(strides.data(), strides.size()), *offset_);
  }

 private:
  DimVector contiguous_strides() const {
    DimVector strides(sizes_.size(), 1);
    for (size_t d = sizes_.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes_[d];
    return strides;
  }
  Tensor blob(IntArrayRef sizes, std::optional<IntArrayRef> strides) {
    if (deleter_)
      return strides ? from_blob(data_, sizes, *strides, deleter_, options_)
                     : from_blob(data_, sizes, deleter_, options_);
    return strides ? from_blob(data_, sizes, *strides, options_) : from_blob(data_, sizes, options_);
  }

  void* data_;
  IntArrayRef sizes_;
  std::optional<IntArrayRef> strides_;
  std::optional<int64_t> offset_;
  std::function<void(void*)> deleter_;
  TensorOptions options_;
};
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return {data, sizes}; }

}  // namespace api
}  // namespace hb::bridge
