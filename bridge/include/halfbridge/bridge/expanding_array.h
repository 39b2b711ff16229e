#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <halfbridge/array_ref.h>

namespace hb::bridge {
namespace detail {
[[noreturn]] HB_API void wrong_number_of_values(size_t wanted, size_t got);
}

inline namespace api {

/// D values, of which one may be given for all: `ExpandingArray<2>(3)` is {3, 3}.
template <size_t D, typename T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list)
      : ExpandingArray(ArrayRef<T>(list)) {}                                // NOLINT: implicit as in LibTorch
  ExpandingArray(std::vector<T> vec) : ExpandingArray(ArrayRef<T>(vec)) {}  // NOLINT
  ExpandingArray(ArrayRef<T> values) {                                      // NOLINT
    if (values.size() != D) bridge::detail::wrong_number_of_values(D, values.size());
    for (size_t i = 0; i < D; ++i) values_[i] = values[i];
  }
  ExpandingArray(T single_size) {  // NOLINT
    for (T& value : values_) value = single_size;
  }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}  // NOLINT

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }  // NOLINT
  size_t size() const noexcept { return D; }

 protected:
  std::array<T, D> values_;
};

template <size_t D, typename T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArray<D, T>& array) {
  if (D == 1) return stream << array->at(0);
  return stream << static_cast<ArrayRef<T>>(array);
}

/// The same, where a value may be left out.
template <size_t D, typename T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
  using Base = ExpandingArray<D, std::optional<T>>;

 public:
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)  // NOLINT
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(std::vector<T> vec) : ExpandingArrayWithOptionalElem(ArrayRef<T>(vec)) {}  // NOLINT
  ExpandingArrayWithOptionalElem(ArrayRef<T> values) : Base(std::optional<T>()) {                           // NOLINT
    if (values.size() != D) bridge::detail::wrong_number_of_values(D, values.size());
    for (size_t i = 0; i < D; ++i) this->values_[i] = values[i];
  }
  ExpandingArrayWithOptionalElem(T single_size) : Base(std::optional<T>(single_size)) {}  // NOLINT
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)                          // NOLINT
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(values)) {}
};

template <size_t D, typename T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArrayWithOptionalElem<D, T>& array) {
  auto print = [&](const std::optional<T>& v) { v ? stream << *v : stream << "None"; };
  if (D == 1) return print(array->at(0)), stream;
  stream << "[";
  for (size_t i = 0; i < D; ++i) {
    if (i) stream << ", ";
    print(array->at(i));
  }
  return stream << "]";
}

}  // namespace api
}  // namespace hb::bridge
