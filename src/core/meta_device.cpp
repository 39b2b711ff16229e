#include "core/meta_device.h"

#include <halfbridge/error.h>

namespace hb {
namespace {

class MetaDevice final : public DeviceBackend {
 public:
  DeviceIndex count() const override { return 1; }
  void set_current(DeviceIndex) override {}
  Block allocate(size_t, DeviceIndex) override { return {nullptr, 0}; }
  void free(Block, DeviceIndex) noexcept override {}
  size_t memory_in_use(DeviceIndex) const override { return 0; }
  size_t peak_memory(DeviceIndex) const override { return 0; }
  void reset_peak_memory(DeviceIndex) override {}
  void copy(void*, const Device& to_device, const void*, const Device& from_device, size_t, bool) override {
    if (from_device.is_meta() && !to_device.is_meta())
      HB_NOT_SUPPORTED("[copy_] Cannot copy out of meta tensor; no data!");
  }
  void synchronize(DeviceIndex) override {}
  const Generator& default_generator(DeviceIndex) override { return hb::default_generator(); }
  void enter_kernel(const char*, const Device&) override {}
  void leave_kernel(const char*, const Device&) noexcept override {}
};

}  // namespace

DeviceBackend* meta_device() {
  static auto* const made = [] {
    auto* device = new MetaDevice;
    register_device_backend(kMeta, device);
    return device;
  }();
  return made;
}

}  // namespace hb
