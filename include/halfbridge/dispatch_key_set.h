#pragma once
// Sets of dispatch keys: those of a tensor, and those that a thread adds to a call or leaves out of it.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <string>

#include <halfbridge/dispatch_key.h>

namespace hb {

/// A set of functionalities and a set of backends in 64 bits. It holds the runtime key of a functionality that backends
/// share out (AutogradCPU) when it holds both the functionality and the backend.
class DispatchKeySet {
 public:
  enum Full { FULL };
  enum FullAfter { FULL_AFTER };
  enum Raw { RAW };

  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(Full) : bits_(bit(num_backends + num_functionality_keys - 1) - 1) {}
  /// All that come after the key, of lower priority.
  constexpr DispatchKeySet(FullAfter, DispatchKey key)
      : bits_((bit(num_backends + static_cast<uint16_t>(toFunctionalityKey(key)) - 1) - 1) |
              DispatchKeySet(DispatchKey::PythonDispatcher).bits_) {}
  constexpr DispatchKeySet(Raw, uint64_t bits) : bits_(bits) {}
  constexpr explicit DispatchKeySet(BackendComponent backend) : bits_(of(backend)) {}
  constexpr explicit DispatchKeySet(DispatchKey key) : bits_(of(key)) {}
  constexpr explicit DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) bits_ |= of(key);
  }
  constexpr explicit DispatchKeySet(std::initializer_list<BackendComponent> backends) {
    for (BackendComponent backend : backends) bits_ |= of(backend);
  }

  constexpr bool has(DispatchKey key) const { return has_all(DispatchKeySet(key)); }
  constexpr bool has_backend(BackendComponent backend) const { return has_all(DispatchKeySet(backend)); }
  constexpr bool has_all(DispatchKeySet keys) const { return (bits_ & keys.bits_) == keys.bits_; }
  constexpr bool has_any(DispatchKeySet keys) const { return (bits_ & keys.bits_) != 0; }
  constexpr bool isSupersetOf(DispatchKeySet keys) const { return has_all(keys); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t raw_repr() const { return bits_; }
  static constexpr DispatchKeySet from_raw_repr(uint64_t bits) { return {RAW, bits}; }

  constexpr DispatchKeySet operator|(DispatchKeySet o) const { return {RAW, bits_ | o.bits_}; }
  constexpr DispatchKeySet operator&(DispatchKeySet o) const { return {RAW, bits_ & o.bits_}; }
  constexpr DispatchKeySet operator^(DispatchKeySet o) const { return {RAW, bits_ ^ o.bits_}; }
  /// Takes functionalities away; backends stay.
  constexpr DispatchKeySet operator-(DispatchKeySet o) const { return {RAW, bits_ & (full_backend_mask | ~o.bits_)}; }
  constexpr bool operator==(DispatchKeySet o) const { return bits_ == o.bits_; }
  constexpr bool operator!=(DispatchKeySet o) const { return bits_ != o.bits_; }
  /// The set with the key; with its functionality gone.
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKey key) const { return *this | DispatchKeySet(key); }
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKeySet keys) const { return *this | keys; }
  [[nodiscard]] constexpr DispatchKeySet remove(DispatchKey key) const { return *this - DispatchKeySet(key); }
  constexpr DispatchKeySet remove_backend(BackendComponent backend) const { return {RAW, bits_ & ~of(backend)}; }

  constexpr DispatchKey highestFunctionalityKey() const {
    const uint64_t functionalities = bits_ >> num_backends;
    return functionalities == 0 ? DispatchKey::Undefined
                                : static_cast<DispatchKey>(64 - __builtin_clzll(functionalities));
  }
  constexpr BackendComponent highestBackendKey() const {
    const uint64_t backends = bits_ & full_backend_mask;
    return static_cast<BackendComponent>(backends == 0 ? 0 : 64 - __builtin_clzll(backends));
  }
  /// The runtime key that a call with this set goes to first.
  constexpr DispatchKey highestPriorityTypeId() const {
    const DispatchKey functionality = highestFunctionalityKey();
    return isPerBackendFunctionalityKey(functionality)
               ? toRuntimePerBackendFunctionalityKey(functionality, highestBackendKey())
               : functionality;
  }

  /// Over the runtime keys, in rising priority.
  class HB_API iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = DispatchKey;
    using difference_type = std::ptrdiff_t;
    using pointer = const DispatchKey*;
    using reference = DispatchKey;
    DispatchKey operator*() const;
    iterator& operator++();
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& o) const { return functionality_ == o.functionality_ && backend_ == o.backend_; }
    bool operator!=(const iterator& o) const { return !(*this == o); }

   private:
    friend class DispatchKeySet;
    iterator(uint64_t bits, uint16_t functionality) : bits_(bits), functionality_(functionality) {}
    void settle();
    uint64_t bits_;
    uint16_t functionality_, backend_ = 0;
  };
  HB_API iterator begin() const;
  HB_API iterator end() const;

 private:
  static constexpr uint64_t bit(unsigned place) { return uint64_t{1} << place; }
  static constexpr uint64_t of(BackendComponent backend) {
    return backend == BackendComponent::InvalidBit ? 0 : bit(static_cast<unsigned>(backend) - 1);
  }
  static constexpr uint64_t of(DispatchKey key) {
    const DispatchKey functionality = toFunctionalityKey(key);
    if (functionality == DispatchKey::Undefined) return 0;
    return bit(num_backends + static_cast<unsigned>(functionality) - 1) | of(toBackendComponent(key));
  }
  uint64_t bits_ = 0;
};

HB_API std::string toString(DispatchKeySet keys);
HB_API std::ostream& operator<<(std::ostream& out, DispatchKeySet keys);

constexpr DispatchKeySet autograd_dispatch_keyset =
    DispatchKeySet({DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther, DispatchKey::AutogradNestedTensor});
constexpr DispatchKeySet autograd_dispatch_keyset_with_ADInplaceOrView =
    autograd_dispatch_keyset | DispatchKeySet(DispatchKey::ADInplaceOrView);
constexpr DispatchKeySet autocast_dispatch_keyset = DispatchKeySet(
    {DispatchKey::AutocastCPU, DispatchKey::AutocastMPS, DispatchKey::AutocastCUDA, DispatchKey::AutocastXPU,
     DispatchKey::AutocastIPU, DispatchKey::AutocastHPU, DispatchKey::AutocastXLA, DispatchKey::AutocastPrivateUse1,
     DispatchKey::AutocastMTIA, DispatchKey::AutocastMAIA});
constexpr DispatchKeySet default_included_set =
    DispatchKeySet({DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView});
constexpr DispatchKeySet default_excluded_set = autocast_dispatch_keyset;
constexpr DispatchKeySet after_autograd_keyset{DispatchKeySet::FULL_AFTER, DispatchKey::AutogradOther};
constexpr DispatchKeySet after_ADInplaceOrView_keyset{DispatchKeySet::FULL_AFTER, DispatchKey::ADInplaceOrView};
constexpr DispatchKeySet after_func_keyset =
    DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Functionalize).remove(DispatchKey::PythonDispatcher);

/// The runtime keys that an alias stands for; of any other key, the key.
HB_API DispatchKeySet getRuntimeDispatchKeySet(DispatchKey key);
HB_API bool runtimeDispatchKeySetHas(DispatchKey alias, DispatchKey key);
/// The backends that an Autograd key belongs to.
HB_API DispatchKeySet getBackendKeySetFromAutograd(DispatchKey key);
HB_API DispatchKeySet getAutogradRelatedKeySetFromBackend(BackendComponent backend);
HB_API DispatchKeySet getAutocastRelatedKeySetFromBackend(BackendComponent backend);
/// Whether the key is one of those that the alias stands for.
HB_API bool isIncludedInAlias(DispatchKey key, DispatchKey alias);
/// Without autograd and autocast: the key of the backend.
HB_API DispatchKey highestPriorityBackendTypeId(DispatchKeySet keys);
inline DispatchKey legacyExtractDispatchKey(DispatchKeySet keys) {
  return (keys - autograd_dispatch_keyset_with_ADInplaceOrView - autocast_dispatch_keyset).highestPriorityTypeId();
}

// --- the calling thread

/// What the thread adds to the keys of every call and leaves out. Inference mode and autocast are part of it.
struct LocalDispatchKeySet {
  DispatchKeySet included_, excluded_;
};
HB_API LocalDispatchKeySet tls_local_dispatch_key_set();
HB_API bool tls_is_dispatch_key_excluded(DispatchKey key);
HB_API bool tls_is_dispatch_key_included(DispatchKey key);

/// Leaves keys out until the end of the scope. Without the Autograd keys nothing is recorded, without an Autocast key
/// the engine's functions are not cast, as in LibTorch, where both are functions of those keys. Unlike there, GradMode
/// says so.
class HB_API ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys);
  explicit ExcludeDispatchKeyGuard(DispatchKey key) : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;
  ~ExcludeDispatchKeyGuard();

 private:
  DispatchKeySet added_;
  bool grad_mode_, autocast_cpu_, autocast_cuda_;
};
/// Adds keys to every call until the end of the scope.
class HB_API IncludeDispatchKeyGuard {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys);
  explicit IncludeDispatchKeyGuard(DispatchKey key) : IncludeDispatchKeyGuard(DispatchKeySet(key)) {}
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;
  ~IncludeDispatchKeyGuard();

 private:
  DispatchKeySet added_;
};

/// In a program's Autograd function: what it calls is not recorded.
struct AutoDispatchBelowAutograd : ExcludeDispatchKeyGuard {
  AutoDispatchBelowAutograd() : ExcludeDispatchKeyGuard(autograd_dispatch_keyset) {}
};
struct AutoDispatchBelowADInplaceOrView : ExcludeDispatchKeyGuard {
  AutoDispatchBelowADInplaceOrView() : ExcludeDispatchKeyGuard(autograd_dispatch_keyset_with_ADInplaceOrView) {}
};
struct AutoNonVariableTypeMode : ExcludeDispatchKeyGuard {
  explicit AutoNonVariableTypeMode(bool /*enabled*/ = true)
      : ExcludeDispatchKeyGuard(autograd_dispatch_keyset_with_ADInplaceOrView) {}
};

}  // namespace hb
