#include <halfbridge/deprecated_type.h>

#include <map>
#include <mutex>
#include <ostream>

#include <halfbridge/tensor.h>

namespace hb {

const char* toString(Backend backend) {
  switch (backend) {
    case Backend::CPU:
      return "CPU";
    case Backend::CUDA:
      return "CUDA";
    case Backend::SparseCPU:
      return "SparseCPU";
    case Backend::SparseCUDA:
      return "SparseCUDA";
    case Backend::Undefined:
      break;
  }
  return "UNKNOWN_BACKEND";
}
std::ostream& operator<<(std::ostream& out, Backend backend) { return out << toString(backend); }

std::string DeprecatedTypeProperties::toString() const {
  if (backend_ == Backend::Undefined || dtype_ == ScalarType::Undefined) return "UndefinedType";
  return std::string(hb::toString(backend_)) + hb::toString(dtype_) + "Type";
}
std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) { return out << type.toString(); }

DeprecatedTypeProperties& DeprecatedTypeProperties::toBackend(Backend backend) const {
  return getDeprecatedTypeProperties(backend, dtype_);
}
DeprecatedTypeProperties& DeprecatedTypeProperties::toScalarType(ScalarType dtype) const {
  return getDeprecatedTypeProperties(backend_, dtype);
}

TensorOptions DeprecatedTypeProperties::options(std::optional<Device> device) const {
  if (!device) return options(-1);
  HB_CHECK(device->type() == device_type(), "[options] expected a device of type ", device_type(), ", got ", *device);
  return options(device->index());
}

DeprecatedTypeProperties& getDeprecatedTypeProperties(Backend backend, ScalarType dtype) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<Backend, ScalarType>, DeprecatedTypeProperties>;  // never destroyed
  const std::lock_guard lock(mutex);
  return all.try_emplace({backend, dtype}, backend, dtype).first->second;
}

DeprecatedTypeProperties& Tensor::type() const {
  if (!defined()) return getDeprecatedTypeProperties(Backend::Undefined, ScalarType::Undefined);
  const bool on_gpu = is_cuda();
  const Backend dense = on_gpu ? Backend::CUDA : Backend::CPU,
                sparse = on_gpu ? Backend::SparseCUDA : Backend::SparseCPU;
  return getDeprecatedTypeProperties(is_sparse() ? sparse : dense, scalar_type());
}

}  // namespace hb
