#include <halfbridge/dispatch_key_set.h>

#include <ostream>
#include <sstream>

#include <halfbridge/autocast.h>
#include <halfbridge/error.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/tensor.h>

namespace hb {
namespace {

constexpr DispatchKeySet kAllBackends{DispatchKeySet::RAW, full_backend_mask};
constexpr DispatchKeySet kBackendFunctionalities({DispatchKey::Dense, DispatchKey::Sparse, DispatchKey::SparseCsr,
                                                  DispatchKey::Quantized});
// Backends whose gradients AutogradOther handles.
constexpr DispatchKeySet kAutogradOtherBackends({DispatchKey::FPGA, DispatchKey::Vulkan, DispatchKey::Metal,
                                                 DispatchKey::CustomRNGKeyId, DispatchKey::MkldnnCPU});
constexpr DispatchKeySet kAutocastCPU(DispatchKey::AutocastCPU), kAutocastCUDA(DispatchKey::AutocastCUDA);

// What guards changed on this thread, as two sets.
struct Changes {
  uint64_t included = 0, excluded = 0;
};
thread_local constinit Changes changes;

DispatchKeySet added(uint64_t& to, DispatchKeySet keys) {
  const DispatchKeySet fresh(DispatchKeySet::RAW, keys.raw_repr() & ~to);
  to |= fresh.raw_repr();
  return fresh;
}

}  // namespace

DispatchKey DispatchKeySet::iterator::operator*() const {
  const auto functionality = static_cast<DispatchKey>(functionality_);
  return backend_ == 0 ? functionality
                       : toRuntimePerBackendFunctionalityKey(functionality, static_cast<BackendComponent>(backend_));
}

// Moves on to the next place that stands for a key, this one included.
void DispatchKeySet::iterator::settle() {
  for (; functionality_ < num_functionality_keys; ++functionality_, backend_ = 0) {
    if (!(bits_ >> (num_backends + functionality_ - 1) & 1)) continue;
    if (!isPerBackendFunctionalityKey(static_cast<DispatchKey>(functionality_))) return;
    if (backend_ == 0) backend_ = 1;
    for (; backend_ <= num_backends; ++backend_) {
      if (bits_ >> (backend_ - 1) & 1) return;
    }
  }
  backend_ = 0;
}

DispatchKeySet::iterator& DispatchKeySet::iterator::operator++() {
  if (backend_ == 0 || backend_ == num_backends) {
    ++functionality_;
    backend_ = 0;
  } else {
    ++backend_;
  }
  settle();
  return *this;
}

DispatchKeySet::iterator DispatchKeySet::begin() const {
  iterator first(bits_, 1);
  first.settle();
  return first;
}
DispatchKeySet::iterator DispatchKeySet::end() const { return {bits_, num_functionality_keys}; }

std::ostream& operator<<(std::ostream& out, DispatchKeySet keys) {
  out << "DispatchKeySet(";
  const char* before = "";
  for (DispatchKey key : keys) out << before << key, before = ", ";
  return out << ")";
}

std::string toString(DispatchKeySet keys) {
  std::ostringstream out;
  out << keys;
  return out.str();
}

DispatchKeySet getRuntimeDispatchKeySet(DispatchKey key) {
  switch (key) {
    case DispatchKey::Autograd:
      return autograd_dispatch_keyset | kAllBackends;
    case DispatchKey::CompositeImplicitAutograd:
      return autograd_dispatch_keyset | kBackendFunctionalities | kAutogradOtherBackends | kAllBackends;
    case DispatchKey::CompositeImplicitAutogradNestedTensor:
      return DispatchKeySet({DispatchKey::NestedTensor, DispatchKey::AutogradNestedTensor}) | kAllBackends;
    case DispatchKey::CompositeExplicitAutograd:
      return kBackendFunctionalities | kAutogradOtherBackends | kAllBackends;
    case DispatchKey::CompositeExplicitAutogradNonFunctional:
      return DispatchKeySet({DispatchKey::Dense, DispatchKey::Quantized}) | kAutogradOtherBackends | kAllBackends;
    case DispatchKey::FuncTorchBatchedDecomposition:
      return DispatchKeySet(DispatchKey::FuncTorchBatched);
    default:
      return DispatchKeySet(key);
  }
}

bool runtimeDispatchKeySetHas(DispatchKey alias, DispatchKey key) { return getRuntimeDispatchKeySet(alias).has(key); }
bool isIncludedInAlias(DispatchKey key, DispatchKey alias) {
  return key != DispatchKey::Undefined && runtimeDispatchKeySetHas(alias, key);
}

DispatchKeySet getBackendKeySetFromAutograd(DispatchKey key) {
  if (key == DispatchKey::AutogradOther) return kAutogradOtherBackends;
  if (key == DispatchKey::AutogradNestedTensor) return DispatchKeySet(DispatchKey::NestedTensor) | kAllBackends;
  if (toFunctionalityKey(key) != DispatchKey::AutogradFunctionality) return {};
  return kBackendFunctionalities | DispatchKeySet(toBackendComponent(key));
}

DispatchKeySet getAutogradRelatedKeySetFromBackend(BackendComponent backend) {
  return DispatchKeySet({DispatchKey::ADInplaceOrView, getAutogradKeyFromBackend(backend)});
}

DispatchKeySet getAutocastRelatedKeySetFromBackend(BackendComponent backend) {
  switch (backend) {
    case BackendComponent::CPUBit:
      return kAutocastCPU;
    case BackendComponent::CUDABit:
      return kAutocastCUDA;
    case BackendComponent::XLABit:
      return DispatchKeySet(DispatchKey::AutocastXLA);
    case BackendComponent::MPSBit:
      return DispatchKeySet(DispatchKey::AutocastMPS);
    default:
      return {};
  }
}

DispatchKey highestPriorityBackendTypeId(DispatchKeySet keys) {
  return (keys & (kBackendFunctionalities | kAllBackends)).highestPriorityTypeId();
}

LocalDispatchKeySet tls_local_dispatch_key_set() {
  DispatchKeySet included = default_included_set, excluded = default_excluded_set;
  if (autocast::is_autocast_enabled(kCPU)) excluded = excluded - kAutocastCPU;
  if (autocast::is_autocast_enabled(kCUDA)) excluded = excluded - kAutocastCUDA;
  if (InferenceMode::is_enabled()) {
    included = included.remove(DispatchKey::ADInplaceOrView);
    excluded = excluded | autograd_dispatch_keyset;
  }
  return {included | DispatchKeySet(DispatchKeySet::RAW, changes.included),
          excluded | DispatchKeySet(DispatchKeySet::RAW, changes.excluded)};
}

bool tls_is_dispatch_key_excluded(DispatchKey key) { return tls_local_dispatch_key_set().excluded_.has(key); }
bool tls_is_dispatch_key_included(DispatchKey key) { return tls_local_dispatch_key_set().included_.has(key); }

ExcludeDispatchKeyGuard::ExcludeDispatchKeyGuard(DispatchKeySet keys)
    : added_(added(changes.excluded, keys)),
      grad_mode_(GradMode::is_enabled()),
      autocast_cpu_(autocast::is_autocast_enabled(kCPU)),
      autocast_cuda_(autocast::is_autocast_enabled(kCUDA)) {
  if (keys.has(DispatchKey::AutogradFunctionality)) GradMode::set_enabled(false);
  if (autocast_cpu_ && keys.has_all(kAutocastCPU)) autocast::set_autocast_enabled(kCPU, false);
  if (autocast_cuda_ && keys.has_all(kAutocastCUDA)) autocast::set_autocast_enabled(kCUDA, false);
}

ExcludeDispatchKeyGuard::~ExcludeDispatchKeyGuard() {
  changes.excluded &= ~added_.raw_repr();
  GradMode::set_enabled(grad_mode_);
  if (autocast_cpu_) autocast::set_autocast_enabled(kCPU, true);
  if (autocast_cuda_) autocast::set_autocast_enabled(kCUDA, true);
}

IncludeDispatchKeyGuard::IncludeDispatchKeyGuard(DispatchKeySet keys) : added_(added(changes.included, keys)) {}
IncludeDispatchKeyGuard::~IncludeDispatchKeyGuard() { changes.included &= ~added_.raw_repr(); }

DispatchKeySet Tensor::key_set() const {
  if (!defined()) return DispatchKeySet({DispatchKey::AutogradOther, DispatchKey::ADInplaceOrView});
  const BackendComponent backend = toBackendComponent(device().type());
  DispatchKeySet keys = DispatchKeySet(toRuntimePerBackendFunctionalityKey(layout() == kStrided ? DispatchKey::Dense
                                                                           : is_sparse()        ? DispatchKey::Sparse
                                                                                         : DispatchKey::SparseCsr,
                                                                           backend)) |
                        getAutocastRelatedKeySetFromBackend(backend);
  if (!is_inference()) keys = keys | getAutogradRelatedKeySetFromBackend(backend);
  return keys;
}

}  // namespace hb
