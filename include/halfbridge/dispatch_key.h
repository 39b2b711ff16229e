#pragma once
// For which tensors a registered function is meant, and which of an operator's functions a call reaches. The names are
// LibTorch's. A key is an alias, which stands for several others, or a runtime key: a functionality (autocast, a
// wrapper) or a functionality of one backend (AutogradCPU).

#include <cstdint>
#include <iosfwd>
#include <string>

#include <halfbridge/device.h>
#include <halfbridge/macros.h>

namespace hb {
// clang-format off
#define HB_FORALL_BACKENDS(_, prefix)                                                                                \
  _(CPU, prefix)                                                                                                     \
  _(CUDA, prefix)                                                                                                    \
  _(HIP, prefix)                                                                                                     \
  _(XLA, prefix)                                                                                                     \
  _(MPS, prefix)                                                                                                     \
  _(IPU, prefix)                                                                                                     \
  _(XPU, prefix) _(HPU, prefix) _(VE, prefix) _(Lazy, prefix) _(MTIA, prefix) _(MAIA, prefix) _(PrivateUse1, prefix) \
      _(PrivateUse2, prefix) _(PrivateUse3, prefix) _(Meta, prefix)

/// In rising priority; `_` takes those that are the same for all backends, `per_backend` the others and the prefix of
/// their runtime keys.
#define HB_FORALL_FUNCTIONALITIES(_, per_backend)                                                                    \
  per_backend(Dense, ) _(FPGA) _(Vulkan) _(Metal) per_backend(Quantized, Quantized) _(CustomRNGKeyId) _(MkldnnCPU)   \
      per_backend(Sparse, Sparse) per_backend(SparseCsr, SparseCsr) per_backend(NestedTensor, NestedTensor)          \
          _(BackendSelect) _(Python) _(Fake) _(FuncTorchDynamicLayerBackMode) _(Functionalize) _(Named) _(Conjugate) \
              _(Negative) _(ZeroTensor) _(ADInplaceOrView) _(AutogradOther)                                          \
                  per_backend(AutogradFunctionality, Autograd) _(AutogradNestedTensor) _(Tracer) _(AutocastCPU)      \
                      _(AutocastMTIA) _(AutocastMAIA) _(AutocastXPU) _(AutocastIPU) _(AutocastHPU) _(AutocastXLA)    \
                          _(AutocastMPS) _(AutocastCUDA) _(AutocastPrivateUse1) _(FuncTorchBatched)                  \
                              _(BatchedNestedTensor) _(FuncTorchVmapMode) _(Batched) _(VmapMode)                     \
                                  _(FuncTorchGradWrapper) _(DeferredInit) _(PythonTLSSnapshot)                       \
                                      _(FuncTorchDynamicLayerFrontMode) _(TESTING_ONLY_GenericWrapper)               \
                                          _(TESTING_ONLY_GenericMode) _(PreDispatch) _(PythonDispatcher)
// clang-format on
enum class BackendComponent : uint8_t {
  InvalidBit = 0,
#define HB_BIT(name, unused) name##Bit,
  HB_FORALL_BACKENDS(HB_BIT, )
#undef HB_BIT
      EndOfBackendKeys = MetaBit,
};

enum class DispatchKey : uint16_t {
  Undefined = 0,
  CatchAll = Undefined,
#define HB_NAME(name) name,
#define HB_NAME_2(name, prefix) name,
  HB_FORALL_FUNCTIONALITIES(HB_NAME, HB_NAME_2)
#undef HB_NAME
#undef HB_NAME_2
      EndOfFunctionalityKeys,
#define HB_KEY(name, prefix) prefix##name,
#define HB_NONE(name)
#define HB_KEYS(name, prefix) \
  StartOf##name##Backends, HB_FORALL_BACKENDS(HB_KEY, prefix) EndOf##name##Backends = prefix##Meta,
  // Macros do not expand inside themselves, so the list of functionalities cannot make these.
  HB_KEYS(Dense, ) HB_KEYS(Quantized, Quantized) HB_KEYS(Sparse, Sparse) HB_KEYS(SparseCsr, SparseCsr)
      HB_KEYS(NestedTensor, NestedTensor) HB_KEYS(AutogradFunctionality, Autograd)
#undef HB_KEY
#undef HB_NONE
#undef HB_KEYS
          EndOfRuntimeBackendKeys = EndOfAutogradFunctionalityBackends,
  Autograd,
  CompositeImplicitAutograd,
  FuncTorchBatchedDecomposition,
  CompositeImplicitAutogradNestedTensor,
  CompositeExplicitAutograd,
  CompositeExplicitAutogradNonFunctional,
  StartOfAliasKeys = Autograd,
  EndOfAliasKeys = CompositeExplicitAutogradNonFunctional,
  CPUTensorId = CPU,
  CUDATensorId = CUDA,
  DefaultBackend = CompositeExplicitAutograd,
  PrivateUse1_PreAutograd = AutogradPrivateUse1,
  PrivateUse2_PreAutograd = AutogradPrivateUse2,
  PrivateUse3_PreAutograd = AutogradPrivateUse3,
  Autocast = AutocastCUDA,
};

constexpr DispatchKey kAutograd = DispatchKey::Autograd;
constexpr uint8_t num_backends = static_cast<uint8_t>(BackendComponent::EndOfBackendKeys);
constexpr uint8_t num_functionality_keys = static_cast<uint8_t>(DispatchKey::EndOfFunctionalityKeys);
constexpr uint16_t full_backend_mask = (1u << num_backends) - 1;
static_assert(num_backends + num_functionality_keys <= 64, "a DispatchKeySet has 64 bits");

constexpr bool isAliasDispatchKey(DispatchKey key) {
  return key >= DispatchKey::StartOfAliasKeys && key <= DispatchKey::EndOfAliasKeys;
}
constexpr bool isPerBackendFunctionalityKey(DispatchKey key) {
  return key == DispatchKey::Dense || key == DispatchKey::Quantized || key == DispatchKey::Sparse ||
         key == DispatchKey::SparseCsr || key == DispatchKey::NestedTensor || key == DispatchKey::AutogradFunctionality;
}

namespace detail {
// The marker before the runtime keys of a functionality: the key of backend b is the marker + b.
constexpr DispatchKey keys_of(DispatchKey functionality) {
  switch (functionality) {
    case DispatchKey::Dense:
      return DispatchKey::StartOfDenseBackends;
    case DispatchKey::Quantized:
      return DispatchKey::StartOfQuantizedBackends;
    case DispatchKey::Sparse:
      return DispatchKey::StartOfSparseBackends;
    case DispatchKey::SparseCsr:
      return DispatchKey::StartOfSparseCsrBackends;
    case DispatchKey::NestedTensor:
      return DispatchKey::StartOfNestedTensorBackends;
    case DispatchKey::AutogradFunctionality:
      return DispatchKey::StartOfAutogradFunctionalityBackends;
    default:
      return DispatchKey::Undefined;
  }
}
}  // namespace detail

/// SparseCPU is Sparse; a key without backend is itself; an alias has none.
constexpr DispatchKey toFunctionalityKey(DispatchKey key) {
  if (key <= DispatchKey::EndOfFunctionalityKeys) return key;
  if (key > DispatchKey::EndOfRuntimeBackendKeys) return DispatchKey::Undefined;
  if (key <= DispatchKey::EndOfDenseBackends) return DispatchKey::Dense;
  if (key <= DispatchKey::EndOfQuantizedBackends) return DispatchKey::Quantized;
  if (key <= DispatchKey::EndOfSparseBackends) return DispatchKey::Sparse;
  if (key <= DispatchKey::EndOfSparseCsrBackends) return DispatchKey::SparseCsr;
  if (key <= DispatchKey::EndOfNestedTensorBackends) return DispatchKey::NestedTensor;
  return DispatchKey::AutogradFunctionality;
}
constexpr BackendComponent toBackendComponent(DispatchKey key) {
  if (key <= DispatchKey::EndOfFunctionalityKeys || key > DispatchKey::EndOfRuntimeBackendKeys)
    return BackendComponent::InvalidBit;
  return static_cast<BackendComponent>(static_cast<uint16_t>(key) -
                                       static_cast<uint16_t>(detail::keys_of(toFunctionalityKey(key))));
}
constexpr DispatchKey toRuntimePerBackendFunctionalityKey(DispatchKey functionality, BackendComponent backend) {
  const DispatchKey start = detail::keys_of(functionality);
  if (start == DispatchKey::Undefined) return DispatchKey::Undefined;
  return static_cast<DispatchKey>(static_cast<uint16_t>(start) + static_cast<uint16_t>(backend));
}
HB_API BackendComponent toBackendComponent(DeviceType type);
HB_API DispatchKey getAutogradKeyFromBackend(BackendComponent backend);

HB_API const char* toString(DispatchKey key);
HB_API const char* toString(BackendComponent backend);
HB_API std::ostream& operator<<(std::ostream& out, DispatchKey key);
HB_API std::ostream& operator<<(std::ostream& out, BackendComponent backend);
/// The key of that name; throws for any other text.
HB_API DispatchKey parseDispatchKey(const std::string& name);

}  // namespace hb
