#pragma once
// A function of an operator, which can be called with C++ types or on a stack.

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <halfbridge/bridge/dispatch/boxing.h>

namespace hb::bridge {
inline namespace api {

class OperatorHandle;

/// Base of callable objects that are registered.
struct HB_API OperatorKernel : intrusive_ptr_target {
  ~OperatorKernel() override;
};

/// Takes its arguments from a stack and leaves its results there.
class HB_API BoxedKernel {
 public:
  using BoxedKernelFunction = void(const OperatorHandle&, Stack*);
  using BoxedKernelFunction_withDispatchKeys = void(const OperatorHandle&, DispatchKeySet, Stack*);
  using InternalBoxedKernelFunction = void(OperatorKernel*, const OperatorHandle&, DispatchKeySet, Stack*);

  BoxedKernel() = default;
  BoxedKernel(intrusive_ptr<OperatorKernel> functor, InternalBoxedKernelFunction* function)
      : functor_(std::move(functor)), function_(function) {}
  /// The call goes to the key of next lower priority.
  static BoxedKernel makeFallthrough() { return {nullptr, &fallthrough}; }
  /// A call is an error that says that which key has several functions.
  static BoxedKernel makeNamedNotSupported() { return {nullptr, &named_not_supported}; }
  template <BoxedKernelFunction* function>
  static BoxedKernel makeFromFunction() {
    return {nullptr,
            [](OperatorKernel*, const OperatorHandle& op, DispatchKeySet, Stack* stack) { function(op, stack); }};
  }
  template <BoxedKernelFunction_withDispatchKeys* function>
  static BoxedKernel makeFromFunction() {
    return {nullptr, [](OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
              function(op, keys, stack);
            }};
  }
  /// An object with `void operator()(const OperatorHandle&, DispatchKeySet, Stack*)`.
  template <class Functor>
  static BoxedKernel makeFromFunctor(std::unique_ptr<Functor> functor) {
    static_assert(std::is_base_of_v<OperatorKernel, Functor>, "expected a class derived from OperatorKernel");
    return {intrusive_ptr<OperatorKernel>(functor.release()),
            [](OperatorKernel* self, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
              (*static_cast<Functor*>(self))(op, keys, stack);
            }};
  }

  bool isValid() const { return function_ != nullptr; }
  bool isFallthrough() const { return function_ == &fallthrough; }
  void callBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    function_(functor_.get(), op, keys, stack);
  }

 private:
  friend class KernelFunction;
  static void fallthrough(OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack* stack);
  static void named_not_supported(OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack* stack);
  intrusive_ptr<OperatorKernel> functor_;
  InternalBoxedKernelFunction* function_ = nullptr;
};

}  // namespace api

namespace boxing {

/// A function pointer or a callable object of one signature. The two ways to call it.
template <class F, class Signature = typename SignatureOf<F>::type>
struct Wrapped;
template <class F, class R, class... Args>
struct Wrapped<F, R(Args...)> final : OperatorKernel {
  F f;
  explicit Wrapped(F f) : f(std::move(f)) {}

  static R unboxed(OperatorKernel* self, DispatchKeySet keys, Args... args) {
    F& f = static_cast<Wrapped*>(self)->f;
    if constexpr (SignatureOf<F>::takes_keys) {
      return f(keys, std::forward<Args>(args)...);
    } else {
      (void)keys;
      return f(std::forward<Args>(args)...);
    }
  }
  static void boxed(OperatorKernel* self, const OperatorHandle&, DispatchKeySet keys, Stack* stack) {
    on_stack(self, keys, *stack, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... at>
  static void on_stack(OperatorKernel* self, DispatchKeySet keys, Stack& stack, std::index_sequence<at...>) {
    constexpr size_t N = sizeof...(Args);
    HB_CHECK(stack.size() >= N, "expected ", N, " arguments on the stack, got ", stack.size());
    std::tuple<Held<std::decay_t<Args>>...> held{Held<std::decay_t<Args>>(jit::peek(stack, at, N))...};
    if constexpr (std::is_void_v<R>) {
      unboxed(self, keys, static_cast<Args>(std::get<at>(held).get())...);
      jit::drop(stack, N);
    } else {
      const typename Owned<std::remove_cv_t<std::remove_reference_t<R>>>::type results =
          unboxed(self, keys, static_cast<Args>(std::get<at>(held).get())...);
      jit::drop(stack, N);
      push_result(stack, results);
    }
    (void)held;
  }
};

}  // namespace boxing

inline namespace api {

class HB_API KernelFunction {
 public:
  KernelFunction() = default;
  explicit KernelFunction(BoxedKernel boxed) : boxed_(std::move(boxed)) {}

  /// From a function pointer or a callable object.
  template <class F>
  static KernelFunction wrap(F f) {
    using Wrapped = boxing::Wrapped<F>;
    return make<Wrapped>(std::move(f), static_cast<typename boxing::SignatureOf<F>::type*>(nullptr));
  }
  static KernelFunction makeFromBoxedKernel(BoxedKernel kernel) { return KernelFunction(std::move(kernel)); }
  template <BoxedKernel::BoxedKernelFunction* function>
  static KernelFunction makeFromBoxedFunction() {
    return KernelFunction(BoxedKernel::makeFromFunction<function>());
  }
  template <BoxedKernel::BoxedKernelFunction_withDispatchKeys* function>
  static KernelFunction makeFromBoxedFunction() {
    return KernelFunction(BoxedKernel::makeFromFunction<function>());
  }
  static KernelFunction makeFallthrough() { return KernelFunction(BoxedKernel::makeFallthrough()); }
  template <class Lambda>
  static KernelFunction makeFromUnboxedLambda(Lambda&& lambda) {
    return wrap<std::decay_t<Lambda>>(std::forward<Lambda>(lambda));
  }
  template <class Function>
  static KernelFunction makeFromUnboxedRuntimeFunction(Function* function) {
    return wrap<Function*>(function);
  }

  bool isValid() const { return boxed_.isValid(); }
  bool isValidUnboxed() const { return unboxed_ != nullptr; }
  bool isFallthrough() const { return boxed_.isFallthrough(); }
  void callBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    boxed_.callBoxed(op, keys, stack);
  }

  /// Calls directly where the function has exactly these C++ types, else by way of a stack.
  template <class R, class... Args>
  R call(const OperatorHandle& op, DispatchKeySet keys, Args... args) const {
    if (unboxed_ != nullptr && (type_ == &typeid(R(Args...)) || *type_ == typeid(R(Args...)))) {
      using Function = R(OperatorKernel*, DispatchKeySet, Args...);
      return reinterpret_cast<Function*>(unboxed_)(boxed_.functor_.get(), keys, std::forward<Args>(args)...);
    }
    return on_stack<R, Args...>(op, keys, std::forward<Args>(args)...);
  }

 private:
  template <class Wrapped, class F, class R, class... Args>
  static KernelFunction make(F f, R (*)(Args...)) {
    KernelFunction kernel(BoxedKernel(intrusive_ptr<OperatorKernel>(new Wrapped(std::move(f))), &Wrapped::boxed));
    kernel.unboxed_ = reinterpret_cast<void (*)()>(&Wrapped::unboxed);
    kernel.type_ = &typeid(R(Args...));
    return kernel;
  }
  template <class R, class... Args>
  R on_stack(const OperatorHandle& op, DispatchKeySet keys, Args... args) const {
    Stack stack;
    stack.reserve(sizeof...(Args));
    (stack.push_back(boxing::value_of(args)), ...);
    callBoxed(op, keys, &stack);
    Tensor* changed[sizeof...(Args) + 1];
    size_t count = 0;
    const auto note = [&](auto&& arg, bool reference) {
      if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, Tensor>) {
        if (reference) changed[count++] = const_cast<Tensor*>(&arg);
      }
    };
    (note(args, std::is_same_v<Args, Tensor&>), ...);
    constexpr bool kFirst = std::is_same_v<std::tuple_element_t<0, std::tuple<Args..., void>>, Tensor&>;
    return boxing::Results<R>::from(stack, changed, count, kFirst);
  }

  BoxedKernel boxed_;
  void (*unboxed_)() = nullptr;
  const std::type_info* type_ = nullptr;
};

/// The C++ types of a function, for comparison.
class HB_API CppSignature {
 public:
  template <class Signature>
  static CppSignature make() {
    return CppSignature(typeid(Signature), typeid(typename boxing::WithoutSym<Signature>::type));
  }
  std::string name() const;
  /// Symbolic integers and plain ones are alike.
  bool operator==(const CppSignature& o) const { return *plain_ == *o.plain_; }
  bool operator!=(const CppSignature& o) const { return !(*this == o); }

 private:
  CppSignature(const std::type_info& type, const std::type_info& plain) : type_(&type), plain_(&plain) {}
  const std::type_info *type_, *plain_;
};

}  // namespace api
}  // namespace hb::bridge
