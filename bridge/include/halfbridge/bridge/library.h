#pragma once
// Registrations of operators (TORCH_LIBRARY, torch::RegisterOperators). Halfbridge has neither a dispatcher nor
// TorchScript, so nothing could look an operator up: registrations are accepted and have no effect, and programs call
// their functions by name as before. Registered classes would be reached through TorchScript alone and are refused.

#include <string>
#include <utility>

#include <halfbridge/intrusive_ptr.h>

namespace hb::bridge {
inline namespace api {

/// For which tensors a registered function is meant.
enum class DispatchKey {
  Undefined,
  CPU,
  CUDA,
  Meta,
  SparseCPU,
  QuantizedCPU,
  Autograd,
  AutogradCPU,
  AutogradCUDA,
  ADInplaceOrView,
  Autocast,
  AutocastCPU,
  AutocastCUDA,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd,
  CatchAll
};

using CustomClassHolder = intrusive_ptr_target;

template <class F>
F&& dispatch(DispatchKey, F&& function) {
  return std::forward<F>(function);
}
inline std::string schema(std::string text) { return text; }

/// What the body of TORCH_LIBRARY gets.
class Library {
 public:
  template <class... Args>
  Library& def(const Args&...) {
    return *this;
  }
  template <class Name, class F>
  Library& def(const Name&, F&&) {
    return *this;
  }
  template <class Name, class F>
  Library& impl(const Name&, F&&) {
    return *this;
  }
  template <class Name, class F>
  Library& impl(const Name&, DispatchKey, F&&) {
    return *this;
  }
  template <class F>
  Library& fallback(F&&) {
    return *this;
  }
  Library& set_python_module(const std::string&, const std::string& = "") { return *this; }
  template <class Class>
  Library& class_(const std::string&) {
    static_assert(sizeof(Class) == 0,
                  "Halfbridge has no TorchScript, which alone reaches a registered class: leave "
                  "the registration out and use the class through a pointer");
    return *this;
  }
};

class RegisterOperators {
 public:
  struct Options {
    // kernel<Function>(key, function), kernel<Class>(key), kernel<decltype(f), &f>(key) and the same without a key.
    template <class... Types, class... Args>
    Options& kernel(Args&&...) {
      return *this;
    }
    template <class Function, Function* function>
    Options& kernel(DispatchKey) {
      return *this;
    }
    template <class... Types, class... Args>
    Options& catchAllKernel(Args&&...) {
      return *this;
    }
    template <class Function, Function* function>
    Options& catchAllKernel() {
      return *this;
    }
    Options& schema(const std::string&) { return *this; }
  };
  RegisterOperators() = default;
  template <class F>
  RegisterOperators(const std::string&, F&&, Options = {}) {}
  static Options options() { return {}; }
  RegisterOperators& op(const std::string&, const Options& = {}) { return *this; }
  template <class F>
  RegisterOperators& op(const std::string&, F&&, const Options& = {}) {
    return *this;
  }
};

}  // namespace api

namespace detail {
/// Runs the body of a TORCH_LIBRARY while the program starts, as LibTorch does.
struct LibraryBody {
  explicit LibraryBody(void (*body)(Library&)) {
    Library library;
    body(library);
  }
};
}  // namespace detail
}  // namespace hb::bridge

#define HB_LIBRARY_BODY_NAMED(function, object, m)                  \
  static void function(::hb::bridge::Library&);                     \
  static const ::hb::bridge::detail::LibraryBody object(&function); \
  static void function([[maybe_unused]] ::hb::bridge::Library& m)
#define HB_LIBRARY_BODY_NUMBERED(number, m) \
  HB_LIBRARY_BODY_NAMED(HB_LIBRARY_JOIN(hb_library_body_, number), HB_LIBRARY_JOIN(hb_library_, number), m)
#define HB_LIBRARY_JOIN_NOW(a, b) a##b
#define HB_LIBRARY_JOIN(a, b) HB_LIBRARY_JOIN_NOW(a, b)
#define HB_LIBRARY_BODY(m) HB_LIBRARY_BODY_NUMBERED(__COUNTER__, m)
