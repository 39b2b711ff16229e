#pragma once
// Small helpers that LibTorch programs take from c10 and ATen.

#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// The printed forms of the arguments, joined.
template <class... Args>
std::string str(const Args&... args) {
  return hb::detail::str(args...);
}

/// The elements of a container, printed with `delimiter` between them.
template <class Container>
std::string Join(const std::string& delimiter, const Container& values) {
  std::ostringstream out;
  const char* before = "";
  for (const auto& value : values) out << before << value, before = delimiter.c_str();
  return out.str();
}

/// Makes a device current on this thread and gives the one of its kind that was; the CPU is always current.
HB_API Device exchange_device(Device device);

/// A device is current until the guard's end.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) : original_(exchange_device(device)), current_(device) {}
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() { exchange_device(original_); }
  void set_index(DeviceIndex index) { reset_device({current_.type(), index}); }
  void reset_device(Device device) {
    exchange_device(original_);
    original_ = exchange_device(device), current_ = device;
  }
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  Device original_, current_;
};
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  void reset_device(Device device) {
    guard_ ? guard_->reset_device(device) : static_cast<void>(guard_.emplace(device));
  }
  std::optional<Device> original_device() const {
    return guard_ ? std::optional<Device>(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::optional<Device>(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<DeviceGuard> guard_;
};
/// The device that programs make current for a tensor.
inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Device>(tensor.device()) : std::nullopt;
}

/// for (auto i : irange(n)), for (auto i : irange(from, to)).
template <class I>
class integer_range {
 public:
  struct iterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    using pointer = const I*;
    using reference = I;
    I value;
    I operator*() const { return value; }
    iterator& operator++() { return ++value, *this; }
    iterator operator++(int) { return {value++}; }
    bool operator==(const iterator& o) const { return value == o.value; }
    bool operator!=(const iterator& o) const { return value != o.value; }
  };
  integer_range(I begin, I end) : begin_{begin}, end_{end < begin ? begin : end} {}
  iterator begin() const { return begin_; }
  iterator end() const { return end_; }

 private:
  iterator begin_, end_;
};
template <class I>
integer_range<I> irange(I end) {
  return {I(0), end};
}
template <class A, class B>
integer_range<B> irange(A begin, B end) {
  return {static_cast<B>(begin), end};
}

inline bool equal_if_defined(const Tensor& a, const Tensor& b) {
  return (!a.defined() && !b.defined()) || (a.defined() && b.defined() && a.equal(b));
}
}  // namespace api

/// The C++ type of the elements of a dtype.
template <ScalarType t>
struct cpp_type;
#define HB_CPP_TYPE(T, Name)          \
  template <>                         \
  struct cpp_type<ScalarType::Name> { \
    using type = T;                   \
  };
HB_FORALL_DTYPES(HB_CPP_TYPE)
#undef HB_CPP_TYPE
template <ScalarType t>
using cpp_type_t = typename cpp_type<t>::type;

/// A type's name as C++ source would write it; types of the bridge have the names that LibTorch gives them.
HB_API std::string demangle(const char* mangled);

namespace detail {
// The text of a failed check: what was said, or that `condition` does not hold.
template <class... Args>
std::string check_text(const char* condition, const Args&... args) {
  if constexpr (sizeof...(Args) == 0)
    return std::string("Expected ") + condition + " to be true, but got false.";
  else
    return hb::detail::str(args...);
}
}  // namespace detail

inline namespace api {
inline Tensor trace(const Tensor& self) { return self.trace(); }
}  // namespace api

}  // namespace hb::bridge

namespace hb {
using bridge::device_of;  // found by a tensor's namespace, as LibTorch's
}  // namespace hb
