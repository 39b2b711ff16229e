// The table of kernels: which routine runs on which type of device.
#include "backend/kernel.h"
#include "core/calling_function.h"
#include "core/device_backend.h"
#include "core/pending.h"

namespace hb {

namespace {
constinit KernelSlots* first = nullptr;
}  // namespace

// Back ends fill slots while libraries load, which the loader does one after the other.
void KernelSlots::set_any(DeviceType type, Any fn, int level) {
  if (!fn) return;
  if (type == kCPU) {
    if (level < level_) return;
    level_ = level;
  }
  fn_[static_cast<size_t>(type)] = fn;
  if (listed_) return;
  listed_ = true;
  next_ = first;
  first = this;
}

void KernelSlots::share_all(DeviceType type, DeviceType like) {
  for (KernelSlots* k = first; k; k = k->next_)
    if (!k->at(type)) k->fn_[static_cast<size_t>(type)] = k->at(like);
}

void KernelSlots::fail_without_values() {
  HB_NOT_SUPPORTED("[", detail::calling_function(), "] Cannot copy out of meta tensor; no data!");
}

void KernelSlots::fail(const Device& device) const {
  if (device.is_cpu() && cpu::isa_level() < 3)
    HB_NOT_SUPPORTED("[", name_, "] is not supported on this CPU: it lacks AVX2, FMA or F16C");
  HB_NOT_SUPPORTED("[", name_, "] is not supported on device ", device);
}

void expect_on(const char* name, const Device& device, const Tensor& operand) {
  if (device.is_meta() || !operand.defined() || operand.device() == device) return;
  detail::fail_two_devices(name, device, operand.device());
}

KernelScope::KernelScope(const char* name, const Device& device) : name_(name), device_(device) {
  if (pending::any()) pending::before_kernel(name);
  device_backend(name, device).enter_kernel(name, device);
}
KernelScope::~KernelScope() { device_backend(name_, device_).leave_kernel(name_, device_); }

}  // namespace hb
