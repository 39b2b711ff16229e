#pragma once
// The bits of a value as one of another type.

#include <cstring>
#include <type_traits>

namespace c10 {
template <class To, class From>
std::enable_if_t<sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From> && std::is_trivially_copyable_v<To>,
                 To>
bit_cast(const From& from) noexcept {
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}
}  // namespace c10
namespace torch::headeronly {
using c10::bit_cast;
}  // namespace torch::headeronly
