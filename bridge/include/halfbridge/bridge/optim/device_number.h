#pragma once

#include <cstdint>
#include <utility>

#include <halfbridge/tensor.h>

namespace hb::bridge::optim {

/// A number that update kernels change in the device's memory, so that nobody waits for a skipped step to be known
/// about. Reads as a T (int64_t or double), which is the only thing that waits. Copies are independent.
///
/// host() lets programs read and write it as LibTorch's fields. The reference stays good; on the CPU it is to what the
/// kernels change. Where the number lay on another device it is the host's from then on, until the next step, which the
/// reference does not follow.
template <class T>
class HB_API DeviceNumber {
 public:
  DeviceNumber(T value = T(0)) : value_(value) {}  // NOLINT: implicit, it stands for a T
  /// Starts as the number that a tensor of one element (int64, or double) holds, and changes it there.
  explicit DeviceNumber(Tensor number);
  DeviceNumber(const DeviceNumber& other) : value_(other.get()) {}
  DeviceNumber(DeviceNumber&&) noexcept = default;
  DeviceNumber& operator=(const DeviceNumber& other) { return *this = other.get(); }
  DeviceNumber& operator=(DeviceNumber&&) noexcept = default;
  DeviceNumber& operator=(T value);
  ~DeviceNumber() = default;

  operator T() const { return get(); }  // NOLINT
  T get() const;
  const T& host() const;
  T& host();
  DeviceNumber& operator+=(T value) { return *this = get() + value; }
  DeviceNumber& operator++() { return *this += 1; }
  T operator++(int) {
    const T before = get();
    *this = before + 1;
    return before;
  }
  /// Whether a kernel may have changed the number, so that reading it waits.
  bool on_device() const { return on_host_.defined() || on_device_.defined(); }
  /// The number in the memory of a device.
  T* data(const Device& device);

 private:
  Tensor holder(const Device& device) const;

  mutable T value_;   // the number until one of the tensors holds it
  Tensor on_host_;    // kept once it is there
  Tensor on_device_;  // of another device: holds the number where it is defined
};

using StepCounter = DeviceNumber<int64_t>;

}  // namespace hb::bridge::optim

/// In the state of an optimizer: the number of its steps, which programs know as an int64_t.
#define HB_STEP_ARG()                                                                           \
 public:                                                                                        \
  auto step(int64_t new_step)->decltype(*this) {                                                \
    this->step_ = new_step;                                                                     \
    return *this;                                                                               \
  }                                                                                             \
  const int64_t& step() const { return this->step_.host(); }                                    \
  int64_t& step() { return this->step_.host(); }                                                \
  const ::hb::bridge::optim::StepCounter& step_counter() const noexcept { return this->step_; } \
  ::hb::bridge::optim::StepCounter& step_counter() noexcept { return this->step_; }             \
                                                                                                \
 private:                                                                                       \
  ::hb::bridge::optim::StepCounter step_ /* NOLINT */
