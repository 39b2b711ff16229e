#pragma once
// torch::RegisterOperators, the older way to register operators: its constructor and op() take a schema and a function.

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/library.h>

namespace hb::bridge {
namespace boxing {

// A callable class made by the registration, which may be one that cannot be moved.
template <class Functor, class Signature = typename SignatureOf<Functor>::type>
struct MadeFunctor;
template <class Functor, class R, class... Args>
struct MadeFunctor<Functor, R(Args...)> {
  std::shared_ptr<Functor> functor;
  R operator()(Args... args) const { return (*functor)(std::forward<Args>(args)...); }
};

}  // namespace boxing

inline namespace api {

/// Registrations that last as long as the object does.
class HB_API RegisterOperators {
 public:
  /// RegisterOperators::options().schema("ns::op(Tensor x) -> Tensor").kernel<decltype(f), &f>(DispatchKey::CPU)
  class HB_API Options {
   public:
    Options&& schema(const std::string& schema_or_name) &&;
    template <class Functor, class... Args>
    std::enable_if_t<std::is_class_v<Functor> && !std::is_same_v<Functor, CppFunction>, Options&&> kernel(
        DispatchKey key, Args&&... args) && {
      return std::move(*this).made<Functor>(key, std::forward<Args>(args)...);
    }
    template <class Function, Function* function>
    Options&& kernel(DispatchKey key) && {
      return std::move(*this).add(key, CppFunction(function));
    }
    template <class F>
    Options&& kernel(DispatchKey key, F&& function) && {
      return std::move(*this).add(key, CppFunction(std::forward<F>(function)));
    }
    template <BoxedKernel::BoxedKernelFunction* function>
    Options&& kernel(DispatchKey key) && {
      return std::move(*this).add(key, CppFunction::makeFromBoxedFunction<function>());
    }
    template <class Functor, class... Args>
    std::enable_if_t<std::is_class_v<Functor>, Options&&> catchAllKernel(Args&&... args) && {
      return std::move(*this).made<Functor>(std::nullopt, std::forward<Args>(args)...);
    }
    template <class Function, Function* function>
    Options&& catchAllKernel() && {
      return std::move(*this).add(std::nullopt, CppFunction(function));
    }
    template <class F>
    Options&& catchAllKernel(F&& function) && {
      return std::move(*this).add(std::nullopt, CppFunction(std::forward<F>(function)));
    }
    template <BoxedKernel::BoxedKernelFunction* function>
    Options&& catchAllKernel() && {
      return std::move(*this).add(std::nullopt, CppFunction::makeFromBoxedFunction<function>());
    }
    Options&& aliasAnalysis(AliasAnalysisKind kind) &&;

   private:
    friend class RegisterOperators;
    Options&& add(std::optional<DispatchKey> key, CppFunction&& function) &&;
    template <class Functor, class... Args>
    Options&& made(std::optional<DispatchKey> key, Args&&... args) && {
      return std::move(*this).add(
          key, CppFunction(boxing::MadeFunctor<Functor>{std::make_shared<Functor>(std::forward<Args>(args)...)}));
    }
    std::optional<std::string> schema_;
    std::optional<AliasAnalysisKind> alias_analysis_;
    std::vector<CppFunction> functions_;
  };

  RegisterOperators() = default;
  RegisterOperators(RegisterOperators&&) = default;
  RegisterOperators& operator=(RegisterOperators&&) = default;
  template <class F>
  explicit RegisterOperators(const std::string& schema_or_name, F&& function, Options&& options = Options()) {
    op(schema_or_name, std::forward<F>(function), std::move(options));
  }
  static Options options() { return {}; }

  RegisterOperators&& op(Options&& options) &&;
  RegisterOperators& op(Options&& options) &;
  RegisterOperators&& op(const std::string& schema_or_name, Options&& options = Options()) && {
    return std::move(*this).op(std::move(options).schema(schema_or_name));
  }
  RegisterOperators& op(const std::string& schema_or_name, Options&& options = Options()) & {
    return op(std::move(options).schema(schema_or_name));
  }
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Options>>>
  RegisterOperators&& op(const std::string& schema_or_name, F&& function, Options&& options = Options()) && {
    return std::move(*this).op(std::move(options).schema(schema_or_name).catchAllKernel(std::forward<F>(function)));
  }
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Options>>>
  RegisterOperators& op(const std::string& schema_or_name, F&& function, Options&& options = Options()) & {
    return op(std::move(options).schema(schema_or_name).catchAllKernel(std::forward<F>(function)));
  }

 private:
  void add(Options&& options);
  std::vector<RegistrationHandleRAII> registrations_;
};

}  // namespace api
}  // namespace hb::bridge
