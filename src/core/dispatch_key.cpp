#include <halfbridge/dispatch_key.h>

#include <iterator>
#include <ostream>

#include <halfbridge/error.h>

namespace hb {
namespace {

struct Named {
  DispatchKey key;
  const char* name;
};

constexpr Named kFunctionalities[] = {{DispatchKey::Undefined, "Undefined"},
#define HB_NAME(name) {DispatchKey::name, #name},
#define HB_NAME_2(name, prefix) {DispatchKey::name, #name},
                                      HB_FORALL_FUNCTIONALITIES(HB_NAME, HB_NAME_2)
#undef HB_NAME
#undef HB_NAME_2
};

constexpr Named kOthers[] = {
#define HB_KEY(name, prefix) {DispatchKey::prefix##name, #prefix #name},
    HB_FORALL_BACKENDS(HB_KEY, ) HB_FORALL_BACKENDS(HB_KEY, Quantized) HB_FORALL_BACKENDS(HB_KEY, Sparse)
        HB_FORALL_BACKENDS(HB_KEY, SparseCsr) HB_FORALL_BACKENDS(HB_KEY, NestedTensor)
            HB_FORALL_BACKENDS(HB_KEY, Autograd)
#undef HB_KEY
#define HB_ALIAS(name) {DispatchKey::name, #name},
                HB_ALIAS(Autograd) HB_ALIAS(CompositeImplicitAutograd) HB_ALIAS(FuncTorchBatchedDecomposition)
                    HB_ALIAS(CompositeImplicitAutogradNestedTensor) HB_ALIAS(CompositeExplicitAutograd)
                        HB_ALIAS(CompositeExplicitAutogradNonFunctional)
#undef HB_ALIAS
};

constexpr const char* kBackends[] = {"InvalidBit",
#define HB_BIT(name, unused) #name "Bit",
                                     HB_FORALL_BACKENDS(HB_BIT, )
#undef HB_BIT
};

}  // namespace

BackendComponent toBackendComponent(DeviceType type) {
  switch (type) {
    case DeviceType::CPU:
      return BackendComponent::CPUBit;
    case DeviceType::CUDA:
      return BackendComponent::CUDABit;
    case DeviceType::XLA:
      return BackendComponent::XLABit;
    case DeviceType::MPS:
      return BackendComponent::MPSBit;
    case DeviceType::HIP:
      return BackendComponent::HIPBit;
    case DeviceType::XPU:
      return BackendComponent::XPUBit;
    case DeviceType::HPU:
      return BackendComponent::HPUBit;
    case DeviceType::PrivateUse1:
      return BackendComponent::PrivateUse1Bit;
    case DeviceType::Meta:
      return BackendComponent::MetaBit;
    default:
      return BackendComponent::InvalidBit;
  }
}

DispatchKey getAutogradKeyFromBackend(BackendComponent backend) {
  if (backend == BackendComponent::InvalidBit) return DispatchKey::AutogradOther;
  return toRuntimePerBackendFunctionalityKey(DispatchKey::AutogradFunctionality, backend);
}

const char* toString(DispatchKey key) {
  const auto place = static_cast<size_t>(key);
  if (place < std::size(kFunctionalities)) return kFunctionalities[place].name;
  for (const Named& named : kOthers) {
    if (named.key == key) return named.name;
  }
  return "UNKNOWN_TENSOR_TYPE_ID";
}

const char* toString(BackendComponent backend) {
  const auto place = static_cast<size_t>(backend);
  return place < std::size(kBackends) ? kBackends[place] : "UNKNOWN_BACKEND_BIT";
}

std::ostream& operator<<(std::ostream& out, DispatchKey key) { return out << toString(key); }
std::ostream& operator<<(std::ostream& out, BackendComponent backend) { return out << toString(backend); }

DispatchKey parseDispatchKey(const std::string& name) {
  for (const Named& named : kFunctionalities) {
    if (name == named.name) return named.key;
  }
  for (const Named& named : kOthers) {
    if (name == named.name) return named.key;
  }
  if (name == "CatchAll") return DispatchKey::CatchAll;
  detail::fail<Error>("could not parse dispatch key: ", name);
}

}  // namespace hb
