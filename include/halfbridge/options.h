#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <halfbridge/device.h>
#include <halfbridge/dtype.h>

namespace hb {

enum class Backend : uint8_t;
enum class DispatchKey : uint16_t;

/// What a new tensor should be; what is left out is the default (float, strided, CPU, no gradient).
class HB_API TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}              // NOLINT: implicit as in LibTorch
  TensorOptions(TypeMeta dtype) : dtype_(dtype) {}                // NOLINT
  TensorOptions(Layout layout) : layout_(layout) {}               // NOLINT
  TensorOptions(MemoryFormat format) : memory_format_(format) {}  // NOLINT
  /// A device, or what a device is made of: "cuda:1", a kind, or a kind and a number.
  template <class... Args, class = std::enable_if_t<std::is_constructible_v<Device, Args&&...>>>
  TensorOptions(Args&&... device) : device_(std::in_place, std::forward<Args>(device)...) {}  // NOLINT

  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> t) const {
    auto o = *this;
    o.dtype_ = t;
    return o;
  }
  template <class T>
  [[nodiscard]] TensorOptions dtype() const {
    return dtype(dtype_of<T>::value);
  }
  [[nodiscard]] TensorOptions device(std::optional<Device> d) const {
    auto o = *this;
    o.device_ = d;
    return o;
  }
  [[nodiscard]] TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  [[nodiscard]] TensorOptions device_index(DeviceIndex index) const { return device(Device(kCUDA, index)); }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> l) const {
    auto o = *this;
    o.layout_ = l;
    return o;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> r) const {
    auto o = *this;
    o.requires_grad_ = r;
    return o;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> p) const {
    auto o = *this;
    o.pinned_ = p;
    return o;
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> f) const {
    auto o = *this;
    o.memory_format_ = f;
    return o;
  }

  TypeMeta dtype() const { return dtype_.value_or(get_default_dtype()); }
  Device device() const { return device_.value_or(Device(kCPU)); }
  Layout layout() const { return layout_.value_or(kStrided); }
  int32_t device_index() const noexcept { return device().index(); }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool pinned_memory() const { return pinned_.value_or(false); }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  bool has_layout() const { return layout_.has_value(); }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  bool has_pinned_memory() const { return pinned_.has_value(); }
  bool has_memory_format() const { return memory_format_.has_value(); }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<Layout> layout_opt() const { return layout_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_; }
  bool is_sparse() const { return layout() == kSparse; }
  bool is_sparse_csr() const { return layout() == kSparseCsr; }
  bool is_sparse_compressed() const { return detail::is_compressed(layout()); }
  /// The backend that tensors with these options belong to, and its key.
  Backend backend() const;
  DispatchKey computeDispatchKey() const;
  /// Whether dtype and backend are the same.
  bool type_equal(const TensorOptions& other) const;
  /// These options, with what `o` sets replacing them.
  [[nodiscard]] TensorOptions merge_in(const TensorOptions& o) const {
    auto r = *this;
    if (o.dtype_) r.dtype_ = o.dtype_;
    if (o.device_) r.device_ = o.device_;
    if (o.layout_) r.layout_ = o.layout_;
    if (o.requires_grad_) r.requires_grad_ = o.requires_grad_;
    if (o.pinned_) r.pinned_ = o.pinned_;
    if (o.memory_format_) r.memory_format_ = o.memory_format_;
    return r;
  }
  /// These options, with that memory format if one is given.
  [[nodiscard]] TensorOptions merge_memory_format(std::optional<MemoryFormat> format) const {
    return format ? memory_format(format) : *this;
  }

 private:
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<Layout> layout_;
  std::optional<bool> requires_grad_;
  std::optional<bool> pinned_;
  std::optional<MemoryFormat> memory_format_;
};

inline TensorOptions dtype(ScalarType t) { return TensorOptions().dtype(t); }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype<T>();
}
inline TensorOptions device(Device d) { return TensorOptions().device(d); }
inline TensorOptions device_index(DeviceIndex index) { return TensorOptions().device_index(index); }
inline TensorOptions layout(Layout l) { return TensorOptions().layout(l); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }
HB_API std::ostream& operator<<(std::ostream& out, const TensorOptions& options);
HB_API std::string toString(const TensorOptions& options);

}  // namespace hb
