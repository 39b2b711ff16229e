#pragma once
// A function with an `out` tensor offers its memory: what the function computes goes there at once, where nothing that
// it reads is there, too.

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/offered_memory.h"

namespace hb {
namespace offer {

/// What of `out` may be offered: null where it is no plain memory, or where the write has to be seen.
TensorImpl* of(const Tensor& out);
bool is_apart(const TensorImpl& out, const Tensor& argument);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
inline constexpr bool holds_no_tensor =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Scalar> ||
    std::is_convertible_v<const T&, IntArrayRef> || std::is_same_v<T, OptionalIntArrayRef> ||
    std::is_convertible_v<const T&, std::string_view>;

/// Whether the argument is what it was when `out` has been written: a type that is not known here may hold tensors.
template <class T>
bool allows(const TensorImpl& out, const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return is_apart(out, argument);
  } else if constexpr (std::is_convertible_v<const T&, TensorList>) {
    for (const Tensor& t : TensorList(argument))
      if (!is_apart(out, t)) return false;
    return true;
  } else if constexpr (IsOptional<T>::value) {
    return !argument || allows(out, *argument);
  } else {
    return holds_no_tensor<T>;
  }
}

}  // namespace offer

namespace ops {
/// Offers out's memory for as long as this is there.
class OutOffer {
 public:
  template <class... Args>
  explicit OutOffer(const Tensor& out, const Args&... arguments) : before_(std::exchange(offer::memory, nullptr)) {
    TensorImpl* const t = offer::of(out);
    if (t && (... && offer::allows(*t, arguments))) offer::memory = t;
  }
  ~OutOffer() { offer::memory = before_; }
  OutOffer(const OutOffer&) = delete;
  OutOffer& operator=(const OutOffer&) = delete;

 private:
  TensorImpl* before_;
};
}  // namespace ops

}  // namespace hb
