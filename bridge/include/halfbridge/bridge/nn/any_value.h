#pragma once

#include <type_traits>
#include <typeinfo>
#include <utility>

#include <halfbridge/bridge/nn/fwd.h>
#include <halfbridge/bridge/utility.h>
#include <halfbridge/owned.h>

namespace hb::bridge::nn {
inline namespace modules {

/// A value of any type, which must be asked for by exactly that type.
class AnyValue {
 public:
  AnyValue(AnyValue&&) = default;
  AnyValue& operator=(AnyValue&&) = default;
  AnyValue(const AnyValue& other) : content_(other.content_->clone()) {}
  AnyValue& operator=(const AnyValue& other) { return *this = AnyValue(other); }
  template <typename T, typename = std::enable_if_t<!std::is_same_v<AnyValue, std::decay_t<T>>>>
  explicit AnyValue(T&& value) : content_(new Holder<std::decay_t<T>>(std::forward<T>(value))) {}

  /// The value; throws where it is of another type.
  template <typename T>
  T& get() {
    static_assert(!std::is_reference_v<T>, "AnyValue holds values, not references");
    if (T* value = try_get<T>()) return *value;
    HB_CHECK(false, "Attempted to cast AnyValue to ", demangle(typeid(T).name()), ", but its actual type is ",
             demangle(type_info().name()));
    std::abort();
  }
  /// The value, or nullptr where it is of another type.
  template <typename T>
  T* try_get() {
    if (typeid(T) == type_info()) return &static_cast<Holder<T>&>(*content_).value;
    return nullptr;
  }
  const std::type_info& type_info() const noexcept { return content_->type; }

 private:
  struct Placeholder {
    explicit Placeholder(const std::type_info& t) : type(t) {}
    virtual ~Placeholder() = default;
    virtual Placeholder* clone() const = 0;
    const std::type_info& type;
  };
  template <typename T>
  struct Holder : Placeholder {
    template <typename U>
    explicit Holder(U&& v) : Placeholder(typeid(T)), value(std::forward<U>(v)) {}
    Placeholder* clone() const override { return new Holder(value); }
    T value;
  };
  hb::detail::Owned<Placeholder> content_;
};

}  // namespace modules
}  // namespace hb::bridge::nn
