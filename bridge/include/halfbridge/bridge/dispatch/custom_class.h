#pragma once
// torch::class_: classes of the program's whose objects values hold, and whose methods are called by name.

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <halfbridge/bridge/library.h>
#include <halfbridge/qualified_name.h>

namespace hb {
class ClassType;  // <halfbridge/class_type.h>
using ClassTypePtr = std::shared_ptr<ClassType>;
}  // namespace hb

namespace hb::bridge {

namespace jit {

/// A method of a registered class.
class HB_API Function {
 public:
  Function(QualifiedName qualified_name, FunctionSchema schema, std::function<void(Stack&)> run, std::string doc);
  /// "forward"; "__torch__.torch.classes.ns.Name.forward".
  const std::string& name() const { return schema_.name(); }
  const QualifiedName& qualname() const { return qualified_name_; }
  const FunctionSchema& getSchema() const { return schema_; }
  const std::string& doc_string() const { return doc_; }
  /// Takes the arguments, the object first, from the stack and leaves the result there.
  void run(Stack& stack) const { run_(stack); }
  /// Checks the arguments against the schema, adds defaults, and returns the result (None for void).
  IValue operator()(Stack stack, const std::unordered_map<std::string, IValue>& by_name = {}) const;

 private:
  QualifiedName qualified_name_;
  FunctionSchema schema_;
  std::function<void(Stack&)> run_;
  std::string doc_;
};

using CustomClassHolder = intrusive_ptr_target;

}  // namespace jit

inline namespace api {

using jit::CustomClassHolder;

}  // namespace api
}  // namespace hb::bridge

namespace hb::bridge {

namespace detail {

struct DefaultArgument;

template <class... Types>
struct types {};

template <class F>
struct InitLambda {
  F f;
};

// What does not depend on the class.
class HB_API ClassBase {
 protected:
  ClassBase(const std::string& ns, const std::string& name, const std::type_info& type);
  jit::Function* define(const std::string& name, FunctionSchema schema, std::function<void(jit::Stack&)> run,
                        std::string doc, std::initializer_list<DefaultArgument> defaults, bool is_static = false);
  void add_property(const std::string& name, jit::Function* getter, jit::Function* setter);
  void check_pickle() const;
  std::shared_ptr<ivalue::CustomClass> registered_;
};

/// torch::arg("name") = value
struct DefaultArgument {
  std::string name_;
  std::optional<IValue> value_;
  explicit DefaultArgument(std::string name) : name_(std::move(name)) {}
  template <class T>
  DefaultArgument& operator=(const T& value) {
    value_ = boxing::value_of(value);
    return *this;
  }
  static IValue none() { return {}; }
};

// A method on a stack: results are one value, a tuple is one too.
template <class F, class Signature = typename boxing::SignatureOf<F>::type>
struct OnStack;
template <class F, class R, class... Args>
struct OnStack<F, R(Args...)> {
  F f;
  void operator()(jit::Stack& stack) { run(stack, std::index_sequence_for<Args...>()); }
  static FunctionSchema schema() {
    if constexpr (std::is_void_v<R>) {
      return boxing::schema_of_types({boxing::TypeText<std::decay_t<Args>>::text()...}, {"NoneType"});
    } else {
      return boxing::schema_of_types({boxing::TypeText<std::decay_t<Args>>::text()...},
                                     {boxing::TypeText<std::decay_t<R>>::text()});
    }
  }

 private:
  template <size_t... at>
  void run(jit::Stack& stack, std::index_sequence<at...>) {
    constexpr size_t N = sizeof...(Args);
    HB_CHECK(stack.size() >= N, "expected ", N, " arguments on the stack, got ", stack.size());
    std::tuple<boxing::Held<std::decay_t<Args>>...> held{boxing::Held<std::decay_t<Args>>(jit::peek(stack, at, N))...};
    (void)held;
    IValue result;
    if constexpr (std::is_void_v<R>) {
      f(static_cast<Args>(std::get<at>(held).get())...);
    } else {
      result = boxing::value_of<std::decay_t<R>>(f(static_cast<Args>(std::get<at>(held).get())...));
    }
    jit::drop(stack, N);
    stack.push_back(std::move(result));
  }
};

// Makes the C++ object of an object that is there already.
template <class T, class F, class... Args>
struct InitOnStack {
  F f;
  void operator()(jit::Stack& stack) { run(stack, std::index_sequence_for<Args...>()); }
  static FunctionSchema schema() {
    return boxing::schema_of_types(
        {boxing::TypeText<intrusive_ptr<T>>::text(), boxing::TypeText<std::decay_t<Args>>::text()...}, {"NoneType"});
  }

 private:
  template <size_t... at>
  void run(jit::Stack& stack, std::index_sequence<at...>) {
    constexpr size_t N = sizeof...(Args) + 1;
    HB_CHECK(stack.size() >= N, "expected ", N, " arguments on the stack, got ", stack.size());
    std::tuple<boxing::Held<std::decay_t<Args>>...> held{
        boxing::Held<std::decay_t<Args>>(jit::peek(stack, at + 1, N))...};
    (void)held;
    intrusive_ptr<T> made = f(static_cast<Args>(std::get<at>(held).get())...);
    jit::peek(stack, 0, N).toObject()->capsule = made;
    jit::drop(stack, N);
    stack.emplace_back();
  }
};
template <class T, class F, class Signature>
struct InitOf;
template <class T, class F, class R, class... Args>
struct InitOf<T, F, R(Args...)> : InitOnStack<T, F, Args...> {};

// A member function takes its object as an intrusive_ptr.
template <class T, class F>
F method_of(F f) {
  return f;
}
template <class T, class C, class R, class... Args>
auto method_of(R (C::*f)(Args...)) {
  return [f](const intrusive_ptr<T>& self, Args... args) -> R { return ((*self).*f)(std::forward<Args>(args)...); };
}
template <class T, class C, class R, class... Args>
auto method_of(R (C::*f)(Args...) const) {
  return [f](const intrusive_ptr<T>& self, Args... args) -> R { return ((*self).*f)(std::forward<Args>(args)...); };
}

}  // namespace detail

inline namespace api {

using arg = detail::DefaultArgument;

/// torch::init<A, B>(): a constructor; torch::init(f): a function that returns a c10::intrusive_ptr.
template <class... Types>
detail::types<Types...> init() {
  return {};
}
template <class F>
detail::InitLambda<std::decay_t<F>> init(F&& f) {
  return {std::forward<F>(f)};
}

/// Registers T, which derives from torch::CustomClassHolder, as __torch__.torch.classes.ns.name. Throws where the class
/// or the name is registered. It stays registered.
template <class T>
class class_ : detail::ClassBase {
  static_assert(std::is_base_of_v<CustomClassHolder, T>,
                "torch::class_<T> requires T to inherit from CustomClassHolder");

 public:
  using Defaults = std::initializer_list<arg>;
  explicit class_(const std::string& ns, const std::string& name, std::string /*doc*/ = "")
      : ClassBase(ns, name, typeid(T)) {}

  template <class... Types>
  class_& def(detail::types<Types...>, std::string doc = "", Defaults defaults = {}) {
    auto make = [](Types... args) { return make_intrusive<T>(std::forward<Types>(args)...); };
    using Init = detail::InitOnStack<T, decltype(make), Types...>;
    define("__init__", Init::schema(), Init{make}, std::move(doc), defaults);
    return *this;
  }
  template <class F>
  class_& def(detail::InitLambda<F> init, std::string doc = "", Defaults defaults = {}) {
    using Init = detail::InitOf<T, F, typename boxing::SignatureOf<F>::type>;
    define("__init__", Init::schema(), Init{{std::move(init.f)}}, std::move(doc), defaults);
    return *this;
  }
  /// A member function, or a function whose first argument is the object: const c10::intrusive_ptr<T>&.
  template <class F>
  class_& def(const std::string& name, F f, std::string doc = "", Defaults defaults = {}) {
    add(name, detail::method_of<T>(std::move(f)), std::move(doc), defaults);
    return *this;
  }
  template <class F>
  class_& def_static(const std::string& name, F f, std::string doc = "") {
    using Call = detail::OnStack<F>;
    define(name, Call::schema(), Call{std::move(f)}, std::move(doc), {}, /*is_static=*/true);
    return *this;
  }
  template <class Getter, class Setter>
  class_& def_property(const std::string& name, Getter getter, Setter setter, std::string doc = "") {
    jit::Function* get = add(name + "_getter", detail::method_of<T>(std::move(getter)), doc, {});
    add_property(name, get, add(name + "_setter", detail::method_of<T>(std::move(setter)), doc, {}));
    return *this;
  }
  template <class Getter>
  class_& def_property(const std::string& name, Getter getter, std::string doc = "") {
    add_property(name, add(name + "_getter", detail::method_of<T>(std::move(getter)), doc, {}), nullptr);
    return *this;
  }
  template <class Field>
  class_& def_readwrite(const std::string& name, Field T::*field) {
    return def_property(
        name, [field](const intrusive_ptr<T>& self) -> Field { return (*self).*field; },
        [field](const intrusive_ptr<T>& self, Field value) { (*self).*field = value; });
  }
  template <class Field>
  class_& def_readonly(const std::string& name, Field T::*field) {
    return def_property(name, [field](const intrusive_ptr<T>& self) -> Field { return (*self).*field; });
  }
  class_& _def_unboxed(const std::string& name, std::function<void(jit::Stack&)> run, FunctionSchema schema,
                       std::string doc = "") {
    define(name, std::move(schema), std::move(run), std::move(doc), {});
    return *this;
  }
  /// How objects are saved: `get(object)` returns a value, from which `set(value)` makes an object.
  template <class GetState, class SetState>
  class_& def_pickle(GetState get, SetState set) {
    jit::Function* getter = add("__getstate__", get, "", {});
    using Init = detail::InitOf<T, SetState, typename boxing::SignatureOf<SetState>::type>;
    jit::Function* setter = define("__setstate__", Init::schema(), Init{{set}}, "", {});
    check_pickle();
    registered_->get_state = [getter](const IValue& object) { return (*getter)({object}); };
    registered_->set_state = [setter](const IValue& object, IValue state) { (*setter)({object, std::move(state)}); };
    return *this;
  }

 private:
  template <class F>
  jit::Function* add(const std::string& name, F f, std::string doc, Defaults defaults) {
    using Call = detail::OnStack<F>;
    return define(name, Call::schema(), Call{std::move(f)}, std::move(doc), defaults);
  }
};

template <class T>
hb::bridge::class_<T> Library::class_(const std::string& name) {
  return hb::bridge::class_<T>(namespace_of_class(name), name);
}

/// A value that holds a new T.
template <class T, class... Args>
IValue make_custom_class(Args&&... args) {
  return IValue(make_intrusive<T>(std::forward<Args>(args)...));
}
/// The class of that name ("__torch__.torch.classes.ns.Name"), or null.
HB_API ClassTypePtr getCustomClass(const std::string& name);
template <class T>
ClassTypePtr getCustomClassType() {
  return getCustomClass(boxing::TypeText<T>::text());
}
inline bool isCustomClass(const IValue& value) { return value.isCustomClass(); }
HB_API std::unordered_set<std::string> getAllCustomClassesNames();

}  // namespace api

}  // namespace hb::bridge
