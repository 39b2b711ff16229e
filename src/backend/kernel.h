#pragma once

#include <type_traits>
#include <utility>

#include <halfbridge/device.h>
#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

#include "backend/captured.h"
#include "core/isa_level.h"

namespace hb {

class Tensor;

/// A routine's name and its slots, one for each type of device. Those that some back end fills are in one list.
class KernelSlots {
 public:
  const char* name() const { return name_; }
  bool available(const Device& device) const { return at(device.type()) != nullptr; }
  /// Gives every kernel that has a routine for `like`, and none for `type`, the same routine for `type`. For devices
  /// whose memory the routines of `like` can read.
  HB_API static void share_all(DeviceType type, DeviceType like);

 protected:
  using Any = void (*)();
  constexpr explicit KernelSlots(const char* name) : name_(name) {}
  HB_API void set_any(DeviceType type, Any fn, int level);
  Any at(DeviceType type) const {
    const auto slot = static_cast<unsigned>(type);
    return slot < kSlots ? fn_[slot] : nullptr;
  }
  [[noreturn]] HB_API void fail(const Device& device) const;
  [[noreturn]] HB_API static void fail_without_values();

 private:
  static constexpr int kSlots = COMPILE_TIME_MAX_DEVICE_TYPES;
  const char* name_;
  Any fn_[kSlots] = {};
  int level_ = 0;  // of the CPU's routine
  bool listed_ = false;
  KernelSlots* next_ = nullptr;
};

/// While a kernel of a device other than the CPU runs: that device's back end prepares what the kernel needs.
class KernelScope {
 public:
  HB_API KernelScope(const char* name, const Device& device);
  HB_API ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const char* name_;
  Device device_;
};

/// Throws PyTorch's error if a tensor that the kernel of a device is to read or write is on another one: functions let
/// a number on the CPU stand beside tensors of any device, and not every kernel can read it.
HB_API void expect_on(const char* name, const Device& device, const Tensor& operand);
template <class T>
void expect_on(const char*, const Device&, const T&) {}

/// One numeric routine with an implementation per device; src/ops calls it, src/cpu (and src/cuda) provide it. Slots
/// are exported, as a back end may be a library of its own.
///
///   HB_API inline Kernel<void(const Tensor& out, const Tensor& in)> softmax_kernel{"softmax"};  // src/backend/….h
///   softmax_kernel(device)(out, in);                                                             // src/ops
///   HB_REGISTER_CPU(softmax_kernel, softmax_cpu);                                                // src/cpu
template <class Signature>
class Kernel;

template <class R, class... Args>
class Kernel<R(Args...)> : public KernelSlots {
 public:
  using Function = R (*)(Args...);
  constexpr explicit Kernel(const char* name) : KernelSlots(name) {}
  /// `level` orders variants for instruction sets: the highest that this CPU runs wins.
  void set(DeviceType type, Function fn, int level = 0) { set_any(type, reinterpret_cast<Any>(fn), level); }

  /// The routine for one device, to be called at once.
  class Bound {
   public:
    Bound(Function fn, const char* name, const Device& device) : fn_(fn), name_(name), device_(device) {}
    R operator()(Args... args) const {
      const auto run = [&]() -> R {
        if (HB_LIKELY(device_.is_cpu())) return fn_(std::forward<Args>(args)...);
        (expect_on(name_, device_, args), ...);
        const KernelScope scope(name_, device_);
        return fn_(std::forward<Args>(args)...);
      };
      if (HB_UNLIKELY(capture::any_recording())) return capture::record_call(fn_, name_, device_, run, args...);
      return run();
    }

   private:
    Function fn_;
    const char* name_;
    Device device_;
  };
  Bound operator()(const Device& device) const {
    const Any fn = at(device.type());
    if (HB_UNLIKELY(!fn)) {
      if (!device.is_meta()) fail(device);
      return {&on_meta, name(), device};
    }
    return {reinterpret_cast<Function>(fn), name(), device};
  }

 private:
  // Tensors on `meta` have no values: to compute them is to do nothing. What the host learns from values fails.
  static R on_meta(Args...) {
    if constexpr (!std::is_void_v<R>) fail_without_values();
  }
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
