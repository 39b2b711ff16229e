#pragma once

#include <atomic>

#include <halfbridge/device.h>
#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

#include "core/isa_level.h"

namespace hb {

/// One numeric routine with an implementation per device; src/ops calls it, src/cpu (and src/cuda) provide it.
///
///   inline Kernel<void(const Tensor& out, const Tensor& in)> softmax_kernel{"softmax"};     // src/backend/….h
///   softmax_kernel(device)(out, in);                                                          // src/ops
///   HB_REGISTER_CPU(softmax_kernel, softmax_cpu);                                             // src/cpu
template <class Signature>
class Kernel {
 public:
  using Function = Signature*;
  constexpr explicit Kernel(const char* name) : name_(name) {}
  /// `level` orders variants for instruction sets: the highest that this CPU runs wins.
  void set(DeviceType type, Function fn, int level = 0) {
    const int slot = static_cast<int>(type);
    if (fn && level >= level_[slot]) fn_[slot] = fn, level_[slot] = level;
  }
  Function operator()(const Device& device) const {
    const Function fn = at(device.type());
    if (HB_UNLIKELY(!fn)) fail(device);
    return fn;
  }
  bool available(const Device& device) const { return at(device.type()) != nullptr; }
  const char* name() const { return name_; }

 private:
  [[noreturn]] void fail(const Device& device) const {
    if (device.is_cpu() && cpu::isa_level() < 3)
      HB_NOT_SUPPORTED("[", name_, "] is not supported on this CPU: it lacks AVX2, FMA or F16C");
    HB_NOT_SUPPORTED("[", name_, "] is not supported on device ", device);
  }
  /// Devices other than these are names alone.
  static constexpr int kSlots = 2;
  Function at(DeviceType type) const {
    const auto slot = static_cast<unsigned>(type);
    return slot < kSlots ? fn_[slot] : nullptr;
  }
  const char* name_;
  Function fn_[kSlots] = {};
  int level_[kSlots] = {};
};

#define HB_CONCAT_(a, b) a##b
#define HB_CONCAT(a, b) HB_CONCAT_(a, b)
/// Gives a kernel its CPU implementation when the library loads.
#define HB_REGISTER_CPU(kernel, fn) \
  [[maybe_unused]] static const bool HB_CONCAT(registered_, __LINE__) = (kernel.set(kCPU, fn), true)

/// In a file of src/cpu/isa: gives a kernel the variant of this instruction set, where the CPU has it.
#define HB_REGISTER_ISA(kernel, fn)                                        \
  [[maybe_unused]] static const bool HB_CONCAT(registered_, __COUNTER__) = \
      cpu::isa_level() >= kIsaLevel && (kernel.set(kCPU, fn, kIsaLevel), true)

}  // namespace hb
