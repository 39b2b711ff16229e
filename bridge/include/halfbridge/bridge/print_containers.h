#pragma once
// Containers of the standard library print as they do in programs that include LibTorch: `std::cout << sizes.vec()`.
// Found by argument-dependent lookup alone, so these stand in namespace std; the engine and the bridge do without them.

#include <cstddef>
#include <map>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

namespace std {
template <class First, class Second>
std::ostream& operator<<(std::ostream& out, const std::pair<First, Second>& p);
}  // namespace std

namespace hb::bridge::detail {
/// The first 100 elements with spaces between them.
template <class Iterator>
void print_sequence(std::ostream& out, Iterator begin, Iterator end) {
  for (int i = 0; begin != end && i < 100; ++i, ++begin) {
    if (i > 0) out << ' ';
    out << *begin;
  }
  if (begin != end) out << " ...";
}
}  // namespace hb::bridge::detail

namespace std {
// The form of the parameters is LibTorch's: a program's own operator<< for vector<T> is the better match.
#define HB_PRINT_CONTAINER(Container)                                              \
  template <class... Types>                                                        \
  std::ostream& operator<<(std::ostream& out, const Container<Types...>& values) { \
    hb::bridge::detail::print_sequence(out, values.begin(), values.end());         \
    return out;                                                                    \
  }
HB_PRINT_CONTAINER(std::vector)
HB_PRINT_CONTAINER(std::map)
HB_PRINT_CONTAINER(std::set)
#undef HB_PRINT_CONTAINER

template <class First, class Second>
std::ostream& operator<<(std::ostream& out, const std::pair<First, Second>& p) {
  return out << '(' << p.first << ", " << p.second << ')';
}
}  // namespace std
