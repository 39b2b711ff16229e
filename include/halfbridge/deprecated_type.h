#pragma once

#include <iosfwd>
#include <string>

#include <halfbridge/options.h>

namespace hb {

class Tensor;

/// Device and layout in one, as LibTorch had them before there were TensorOptions.
enum class Backend : uint8_t { CPU, CUDA, SparseCPU, SparseCUDA, Undefined };
HB_API const char* toString(Backend backend);
HB_API std::ostream& operator<<(std::ostream& out, Backend backend);

/// What Tensor::type() returns: a backend and a dtype. New programs take Tensor::options().
class HB_API DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(Backend backend, ScalarType dtype) : backend_(backend), dtype_(dtype) {}

  Backend backend() const { return backend_; }
  bool is_sparse() const { return backend_ == Backend::SparseCPU || backend_ == Backend::SparseCUDA; }
  bool is_sparse_csr() const { return false; }
  bool is_cuda() const { return backend_ == Backend::CUDA || backend_ == Backend::SparseCUDA; }
  Layout layout() const { return is_sparse() ? kSparse : kStrided; }
  DeviceType device_type() const { return is_cuda() ? kCUDA : kCPU; }
  ScalarType scalarType() const { return dtype_; }
  TypeMeta typeMeta() const { return dtype_; }
  bool operator==(const DeprecatedTypeProperties& o) const { return backend_ == o.backend_ && dtype_ == o.dtype_; }
  bool operator!=(const DeprecatedTypeProperties& o) const { return !(*this == o); }
  /// "CPUFloatType".
  std::string toString() const;

  DeprecatedTypeProperties& toBackend(Backend backend) const;
  DeprecatedTypeProperties& toScalarType(ScalarType dtype) const;
  DeprecatedTypeProperties& cpu() const { return toBackend(Backend::CPU); }
  DeprecatedTypeProperties& cuda() const { return toBackend(Backend::CUDA); }

  TensorOptions options(int16_t device_index = -1) const {
    return TensorOptions()
        .dtype(dtype_)
        .device(Device(device_type(), static_cast<DeviceIndex>(device_index)))
        .layout(layout());
  }
  /// Throws where the device is of another type.
  TensorOptions options(std::optional<Device> device) const;
  operator TensorOptions() const { return options(); }  // NOLINT: implicit as in LibTorch
  Tensor copy(const Tensor& source, bool non_blocking = false, std::optional<Device> to_device = {}) const;

 private:
  Backend backend_;
  ScalarType dtype_;
};
HB_API std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type);

/// The one object of its kind.
HB_API DeprecatedTypeProperties& getDeprecatedTypeProperties(Backend backend, ScalarType dtype);
inline DeprecatedTypeProperties& CPU(ScalarType dtype) { return getDeprecatedTypeProperties(Backend::CPU, dtype); }
inline DeprecatedTypeProperties& CUDA(ScalarType dtype) { return getDeprecatedTypeProperties(Backend::CUDA, dtype); }

}  // namespace hb
