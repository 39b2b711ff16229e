#pragma once
// Registrations of operators: what TORCH_LIBRARY and its siblings run when a program or a library that it loads starts.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/dispatch/dispatcher.h>

namespace hb::bridge {
inline namespace api {

/// A function to register: from a function pointer or a callable object, which give its schema, or boxed.
class HB_API CppFunction {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, CppFunction>>>
  explicit CppFunction(F&& f)
      : function_(KernelFunction::wrap<std::decay_t<F>>(std::forward<F>(f))),
        signature_(CppSignature::make<typename boxing::SignatureOf<std::decay_t<F>>::type>()),
        schema_(new FunctionSchema(boxing::SchemaOf<typename boxing::SignatureOf<std::decay_t<F>>::type>::schema())) {}
  CppFunction(CppFunction&&) = default;
  CppFunction& operator=(CppFunction&&) = default;

  static CppFunction makeFromBoxedKernel(BoxedKernel kernel) {
    return CppFunction(Boxed(), KernelFunction(std::move(kernel)));
  }
  static CppFunction makeFallthrough() { return makeFromBoxedKernel(BoxedKernel::makeFallthrough()); }
  static CppFunction makeNamedNotSupported() { return makeFromBoxedKernel(BoxedKernel::makeNamedNotSupported()); }
  template <BoxedKernel::BoxedKernelFunction* function>
  static CppFunction makeFromBoxedFunction() {
    return makeFromBoxedKernel(BoxedKernel::makeFromFunction<function>());
  }
  template <BoxedKernel::BoxedKernelFunction_withDispatchKeys* function>
  static CppFunction makeFromBoxedFunction() {
    return makeFromBoxedKernel(BoxedKernel::makeFromFunction<function>());
  }
  template <class Functor>
  static CppFunction makeFromBoxedFunctor(std::unique_ptr<Functor> functor) {
    return makeFromBoxedKernel(BoxedKernel::makeFromFunctor(std::move(functor)));
  }
  template <class F>
  static CppFunction makeFromUnboxedFunction(F* function) {
    return CppFunction(function);
  }
  /// Where the function comes from, for messages.
  CppFunction&& debug(std::string where) && {
    debug_ = std::move(where);
    return std::move(*this);
  }

 private:
  struct Boxed {};
  CppFunction(Boxed, KernelFunction function) : function_(std::move(function)) {}
  friend class Library;
  friend class RegisterOperators;
  template <class F>
  friend CppFunction dispatch(DispatchKey, F&&);
  KernelFunction function_;
  std::optional<CppSignature> signature_;
  hb::detail::Owned<FunctionSchema> schema_;
  std::optional<DispatchKey> key_;
  std::string debug_;
};

/// A function for one key.
template <class F>
CppFunction dispatch(DispatchKey key, F&& function) {
  CppFunction f(std::forward<F>(function));
  if (key != DispatchKey::CatchAll) f.key_ = key;
  return f;
}
template <class F>
CppFunction dispatch(DeviceType type, F&& function) {
  return dispatch(toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, toBackendComponent(type)),
                  std::forward<F>(function));
}

HB_API FunctionSchema schema(const std::string& text, AliasAnalysisKind kind, bool allow_typevars = false);
inline FunctionSchema schema(const std::string& text, bool allow_typevars = false) {
  return schema(text, AliasAnalysisKind::FROM_SCHEMA, allow_typevars);
}
inline FunctionSchema&& schema(FunctionSchema&& schema) { return std::move(schema); }

template <class T>
class class_;

/// What the body of TORCH_LIBRARY gets. Its registrations last as long as it does.
class HB_API Library {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };
  Library(Kind kind, std::string ns, std::optional<DispatchKey> key, const char* file, uint32_t line);
  Library(Library&&) = default;
  Library& operator=(Library&&) = default;

  /// Declares an operator by its schema; throws where the namespace is another or the operator is declared.
  Library& def(FunctionSchema&& schema, const std::vector<Tag>& tags = {}) &;
  Library& def(const std::string& schema, const std::vector<Tag>& tags = {}) &;
  /// Declares an operator, with a schema or with a name and the schema of the function, and registers the function for
  /// its key, or for all tensors (CompositeImplicitAutograd).
  template <class NameOrSchema, class F, class = std::enable_if_t<!std::is_convertible_v<F&&, const std::vector<Tag>&>>>
  Library& def(NameOrSchema&& name_or_schema, F&& function, const std::vector<Tag>& tags = {}) & {
    return define_with(std::forward<NameOrSchema>(name_or_schema), CppFunction(std::forward<F>(function)), tags);
  }
  /// Registers a function for the key of the block, else of the function, else for all tensors.
  template <class F>
  Library& impl(const std::string& name, F&& function) & {
    return implement(name, CppFunction(std::forward<F>(function)));
  }
  template <class Key, class F>
  Library& impl(const std::string& name, Key key, F&& function) & {
    return implement(name, dispatch(key, std::forward<F>(function)));
  }
  /// For all operators without a function for the block's key.
  template <class F>
  Library& fallback(F&& function) & {
    return add_fallback(CppFunction(std::forward<F>(function)));
  }
  /// Does nothing, for there is no Python.
  Library& set_python_module(const char* /*module*/, const char* /*context*/ = "") & { return *this; }
  Library& impl_abstract_pystub(const char* /*module*/, const char* /*context*/ = "") & { return *this; }
  /// Registers a class of the program's (dispatch/custom_class.h).
  template <class T>
  hb::bridge::class_<T> class_(const std::string& name);
  void reset() { registrations_.clear(); }

 private:
  Library& define_with(FunctionSchema&& schema, CppFunction&& function, const std::vector<Tag>& tags);
  Library& define_with(OperatorName&& name, CppFunction&& function, const std::vector<Tag>& tags);
  Library& define_with(const std::string& name_or_schema, CppFunction&& function, const std::vector<Tag>& tags);
  OperatorName define(FunctionSchema&& schema, const std::vector<Tag>& tags);
  Library& implement(const std::string& name, CppFunction&& function);
  Library& add_fallback(CppFunction&& function);
  const std::string& namespace_of_class(const std::string& name) const;
  void check_key(const std::string& what, const std::optional<DispatchKey>& key) const;
  std::string where() const;
  std::string context() const;
  const char* block() const;

  Kind kind_;
  std::optional<std::string> ns_;
  std::optional<DispatchKey> key_;
  const char* file_;
  uint32_t line_;
  std::vector<RegistrationHandleRAII> registrations_;
};

}  // namespace api

namespace detail {
/// Runs the body of a TORCH_LIBRARY while the program starts, and undoes what it did when the code that it stands in
/// goes.
class TorchLibraryInit {
 public:
  TorchLibraryInit(Library::Kind kind, void (*body)(Library&), const char* ns, std::optional<DispatchKey> key,
                   const char* file, uint32_t line)
      : library_(kind, ns, key, file, line) {
    body(library_);
  }

 private:
  Library library_;
};
}  // namespace detail
}  // namespace hb::bridge

#define HB_LIBRARY_NAMED(function, object, kind, ns, key, m)                                                  \
  static void function(::hb::bridge::Library&);                                                               \
  static const ::hb::bridge::detail::TorchLibraryInit object(::hb::bridge::Library::kind, &function, ns, key, \
                                                             __FILE__, __LINE__);                             \
  static void function([[maybe_unused]] ::hb::bridge::Library& m)
#define HB_LIBRARY_JOIN_NOW(a, b) a##b
#define HB_LIBRARY_JOIN(a, b) HB_LIBRARY_JOIN_NOW(a, b)
#define HB_LIBRARY_NUMBERED(number, kind, ns, key, m) \
  HB_LIBRARY_NAMED(HB_LIBRARY_JOIN(hb_library_body_, number), HB_LIBRARY_JOIN(hb_library_, number), kind, ns, key, m)
#define HB_LIBRARY_BODY(kind, ns, key, m) HB_LIBRARY_NUMBERED(__COUNTER__, kind, ns, key, m)
