#pragma once
// All operators that programs registered: looked up by name, called with C++ types or on a stack. Which of an
// operator's functions a call reaches is decided by the keys of its tensors, of the thread and of nothing else, in
// LibTorch's order: autocast, autograd, back end; a key without a function of its own takes that of an alias, then a
// fallback.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/dispatch/kernel_function.h>
#include <halfbridge/owned.h>

namespace hb::bridge {

struct OperatorEntry;

inline namespace api {

/// Undoes a registration when it is destroyed. Nobody may be calling what goes.
class RegistrationHandleRAII {
 public:
  explicit RegistrationHandleRAII(std::function<void()> undo) : undo_(std::move(undo)) {}
  RegistrationHandleRAII(RegistrationHandleRAII&& o) noexcept : undo_(std::exchange(o.undo_, nullptr)) {}
  RegistrationHandleRAII& operator=(RegistrationHandleRAII&& o) noexcept {
    std::swap(undo_, o.undo_);
    return *this;
  }
  ~RegistrationHandleRAII() {
    if (undo_) undo_();
  }

 private:
  std::function<void()> undo_;
};

/// What a program says of an operator. Nothing here acts on it.
enum class Tag {
  core,
  cudagraph_unsafe,
  data_dependent_output,
  dynamic_output_shape,
  flexible_layout,
  generated,
  inplace_view,
  maybe_aliasing_or_mutating,
  needs_contiguous_strides,
  needs_exact_strides,
  needs_fixed_stride_order,
  nondeterministic_bitwise,
  nondeterministic_seeded,
  pointwise,
  pt2_compliant_tag,
  reduction,
  view_copy,
};

template <class FuncType>
class TypedOperatorHandle;

/// An operator; lives as long as the process.
class HB_API OperatorHandle {
 public:
  const OperatorName& operator_name() const;
  bool hasSchema() const;
  /// Throws where functions were registered and no schema.
  const FunctionSchema& schema() const;
  /// Where the schema was registered.
  const std::string& debug() const;
  const std::vector<Tag>& getTags() const;
  bool hasTag(const Tag& tag) const;
  /// Asks for functions registered for exactly this key.
  bool hasKernelForDispatchKey(DispatchKey key) const;
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const;
  bool isKernelFallthroughKernel(DispatchKey key) const;
  /// Also by aliases and fallbacks.
  bool hasComputedKernelForDispatchKey(DispatchKey key) const;
  std::string dumpState() const;
  std::string dumpComputedTable() const;

  /// Throws unless the registered functions have these C++ types.
  template <class FuncType>
  TypedOperatorHandle<FuncType> typed() const {
    check_signature(CppSignature::make<FuncType>());
    return TypedOperatorHandle<FuncType>(entry_);
  }
  /// Takes the arguments from the stack and leaves the results there. Arguments without a value take no default.
  void callBoxed(Stack* stack) const;
  void callBoxed(Stack& stack) const { callBoxed(&stack); }
  void callBoxedForDispatchKey(DispatchKey key, Stack& stack) const;
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const;

  bool operator==(const OperatorHandle& o) const { return entry_ == o.entry_; }
  bool operator!=(const OperatorHandle& o) const { return entry_ != o.entry_; }

 protected:
  friend class Dispatcher;
  explicit OperatorHandle(OperatorEntry* entry) : entry_(entry) {}
  void check_signature(const CppSignature& signature) const;
  // The function that a call with these keys reaches; takes the keys away that fall through.
  const KernelFunction& reached(DispatchKeySet& keys, bool requires_grad) const;
  OperatorEntry* entry_;
};

}  // namespace api

namespace boxing {

/// The keys of a call's arguments.
struct HB_API ArgumentKeys {
  DispatchKeySet keys;
  bool requires_grad = false;

  void add(const Tensor& tensor);
  void add(const std::optional<Tensor>& tensor) {
    if (tensor) add(*tensor);
  }
  void add(const ArrayRef<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) add(tensor);
  }
  void add(const std::vector<Tensor>& tensors) { add(ArrayRef<Tensor>(tensors)); }
  void add(const List<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) add(tensor);
  }
  void add(const ArrayRef<std::optional<Tensor>>& tensors) {
    for (const auto& tensor : tensors) add(tensor);
  }
  void add(const List<std::optional<Tensor>>& tensors) {
    for (const auto& tensor : tensors) add(tensor);
  }
  void add(const IValue& value);
  template <class T>
  void add(const T&) {}
  /// With what the thread adds and leaves out.
  DispatchKeySet of_call() const;
};

}  // namespace boxing

inline namespace api {

template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> final : public OperatorHandle {
 public:
  R call(Args... args) const {
    boxing::ArgumentKeys found;
    (found.add(args), ...);
    DispatchKeySet keys = found.of_call();
    return reached(keys, found.requires_grad).template call<R, Args...>(*this, keys, std::forward<Args>(args)...);
  }
  /// The function for these keys and none of the thread's.
  R redispatch(DispatchKeySet keys, Args... args) const {
    boxing::ArgumentKeys found;
    (found.add(args), ...);
    return reached(keys, found.requires_grad).template call<R, Args...>(*this, keys, std::forward<Args>(args)...);
  }

 private:
  friend class OperatorHandle;
  explicit TypedOperatorHandle(OperatorEntry* entry) : OperatorHandle(entry) {}
};

/// Safe to use from static initialisers and from several threads.
class HB_API Dispatcher {
 public:
  static Dispatcher& singleton();
  static Dispatcher& realSingleton() { return singleton(); }

  /// Operators with a schema; nothing, or an error, for others.
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const;
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const;
  /// Operators that have anything registered.
  std::optional<OperatorHandle> findOp(const OperatorName& name) const;
  std::vector<OperatorName> getAllOpNames() const;
  std::vector<OperatorName> getAllOpNamesForDispatchKey(DispatchKey key) const;
  std::vector<OperatorName> getRegistrationsForDispatchKey(std::optional<DispatchKey> key) const;
  /// Operators with functions and without a schema.
  std::vector<OperatorHandle> findDanglingImpls() const;

  template <class R, class... Args>
  R call(const TypedOperatorHandle<R(Args...)>& op, Args... args) const {
    return op.call(std::forward<Args>(args)...);
  }
  template <class R, class... Args>
  R redispatch(const TypedOperatorHandle<R(Args...)>& op, DispatchKeySet keys, Args... args) const {
    return op.redispatch(keys, std::forward<Args>(args)...);
  }
  void callBoxed(const OperatorHandle& op, Stack* stack) const { op.callBoxed(stack); }
  void callBoxedForDispatchKey(const OperatorHandle& op, DispatchKey key, Stack* stack) const {
    op.callBoxedForDispatchKey(key, *stack);
  }
  void redispatchBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    op.redispatchBoxed(keys, stack);
  }
  bool hasBackendFallbackForDispatchKey(DispatchKey key) const;

  // Registrations, which Library and RegisterOperators make. `debug` says where.
  RegistrationHandleRAII registerDef(FunctionSchema schema, std::string debug, std::vector<Tag> tags = {});
  /// Without a key: for CompositeImplicitAutograd.
  RegistrationHandleRAII registerImpl(OperatorName name, std::optional<DispatchKey> key, KernelFunction kernel,
                                      std::optional<CppSignature> signature,
                                      hb::detail::Owned<FunctionSchema> inferred_schema, std::string debug);
  RegistrationHandleRAII registerFallback(DispatchKey key, KernelFunction kernel, std::string debug);
  RegistrationHandleRAII registerLibrary(std::string ns, std::string debug);

 private:
  Dispatcher() = default;
};

}  // namespace api
}  // namespace hb::bridge

template <>
struct std::hash<hb::bridge::OperatorHandle> {
  size_t operator()(const hb::bridge::OperatorHandle& op) const noexcept {
    return std::hash<const void*>()(&op.operator_name());
  }
};
