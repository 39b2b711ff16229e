#pragma once
// Questions about dtypes, strings and numbers that kernels of LibTorch programs ask c10 and ATen.

#include <cstdint>
#include <string_view>

#include <halfbridge/dtype.h>
#include <halfbridge/ops/combine.h>

namespace hb::bridge {
inline namespace api {

inline bool isReducedFloatingType(ScalarType t) { return is_half_type(t); }
/// Whether values of the type, or their parts, may be negative.
inline bool isSignedType(ScalarType t) { return is_signed_type(t); }
/// Whether `tensor_of_to += value_of_from` is allowed.
inline bool canCast(ScalarType from, ScalarType to) { return can_cast(from, to); }

inline ScalarType get_default_dtype_as_scalartype() { return get_default_dtype(); }

/// The quotient, rounded up; both are positive.
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }

constexpr bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  return text.size() >= prefix.size() && text.substr(0, prefix.size()) == prefix;
}
constexpr bool starts_with(std::string_view text, char prefix) noexcept {
  return !text.empty() && text.front() == prefix;
}
constexpr bool ends_with(std::string_view text, std::string_view suffix) noexcept {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}
constexpr bool ends_with(std::string_view text, char suffix) noexcept { return !text.empty() && text.back() == suffix; }

}  // namespace api
}  // namespace hb::bridge
