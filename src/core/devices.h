#pragma once
// Rules for operands on several devices. As long as the CPU is the only device, they cost one branch.

#include <optional>
#include <type_traits>

#include <halfbridge/options.h>
#include <halfbridge/tensor.h>

namespace hb::detail {

/// The device that options name, or else the default one.
Device device_for(const TensorOptions& options);

/// Whether a back end other than the CPU's is loaded.
extern constinit bool other_devices __attribute__((visibility("hidden")));

/// The device of the tensors among a function's arguments; throws PyTorch's error where there are two.
class OneDevice {
 public:
  explicit OneDevice(const char* function) : function_(function) {}
  void see(const Tensor& t) {
    if (t.defined()) see_defined(t);
  }
  void see(const std::optional<Tensor>& t) {
    if (t) see(*t);
  }
  void see(TensorList list) {
    for (const Tensor& t : list) see(t);
  }
  template <class T>
  std::enable_if_t<!std::is_convertible_v<const T&, TensorList>> see(const T&) {}

 private:
  void see_defined(const Tensor& t);
  const char* function_;
  std::optional<Device> device_;
};

template <class... Args>
[[gnu::noinline, gnu::cold]] void check_one_device(const char* function, const Args&... args) {
  OneDevice device(function);
  (device.see(args), ...);
}

/// The error of operands on two devices.
[[noreturn]] void fail_two_devices(const char* function, const Device& a, const Device& b);

}  // namespace hb::detail
