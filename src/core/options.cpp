#include <halfbridge/options.h>

#include <halfbridge/deprecated_type.h>
#include <halfbridge/dispatch_key.h>
#include <halfbridge/error.h>

namespace hb {

DispatchKey TensorOptions::computeDispatchKey() const {
  const Device where = device();
  const bool sparse = is_sparse();
  if (where.is_cpu()) return sparse ? DispatchKey::SparseCPU : DispatchKey::CPU;
  if (where.is_cuda()) return sparse ? DispatchKey::SparseCUDA : DispatchKey::CUDA;
  if (where.is_meta()) return sparse ? DispatchKey::SparseMeta : DispatchKey::Meta;
  HB_NOT_SUPPORTED("[computeDispatchKey] there are no tensors on ", where);
}

Backend TensorOptions::backend() const {
  switch (computeDispatchKey()) {
    case DispatchKey::CPU:
      return Backend::CPU;
    case DispatchKey::CUDA:
      return Backend::CUDA;
    case DispatchKey::SparseCPU:
      return Backend::SparseCPU;
    case DispatchKey::SparseCUDA:
      return Backend::SparseCUDA;
    default:
      return Backend::Undefined;
  }
}

bool TensorOptions::type_equal(const TensorOptions& other) const {
  return computeDispatchKey() == other.computeDispatchKey() && dtype() == other.dtype();
}

}  // namespace hb
