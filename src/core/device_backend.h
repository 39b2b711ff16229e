#pragma once
// What the engine asks of a kind of devices, besides kernels: memory, copies, waiting, random numbers.

#include <initializer_list>

#include <halfbridge/device.h>
#include <halfbridge/generator.h>

#include "core/devices.h"

namespace hb {

/// One object per device type, made by its back end and registered when that is loaded. Indices are those of devices:
/// 0 to count() - 1.
class HB_API DeviceBackend {
 public:
  virtual ~DeviceBackend();

  virtual DeviceIndex count() const = 0;
  /// The device that `cuda` without a number means, on this thread.
  virtual DeviceIndex current() const { return 0; }
  virtual void set_current(DeviceIndex index) = 0;

  struct Block {
    void* memory;
    size_t bytes;
  };
  /// At least `bytes` of the device's memory, aligned to 64 bytes, for the work that is next in the current stream.
  /// Throws where there is no memory.
  virtual Block allocate(size_t bytes, DeviceIndex index) = 0;
  virtual void free(Block block, DeviceIndex index) noexcept = 0;
  /// Bytes in use now, and the most there were since the last reset.
  virtual size_t memory_in_use(DeviceIndex index) const = 0;
  virtual size_t peak_memory(DeviceIndex index) const = 0;
  virtual void reset_peak_memory(DeviceIndex index) = 0;

  /// Copies bytes of which at least one side is on a device of this kind, after the work that was queued before. A copy
  /// to the host is there when this returns; one from the host may be read later only if `non_blocking`.
  virtual void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t bytes,
                    bool non_blocking) = 0;
  /// Waits until all work of this device is done.
  virtual void synchronize(DeviceIndex index) = 0;

  /// The generator that is used where none is given.
  virtual const Generator& default_generator(DeviceIndex index) = 0;

  /// Called around each kernel that runs on a device of this kind.
  virtual void enter_kernel(const char* name, const Device& device) = 0;
  virtual void leave_kernel(const char* name, const Device& device) noexcept = 0;
};

/// Makes a kind of devices known; once for each type, `backend` lives as long as the process.
HB_API void register_device_backend(DeviceType type, DeviceBackend* backend);
/// Null where there is none (the CPU needs none: its tensors are one block with their header).
HB_API DeviceBackend* find_device_backend(DeviceType type);
/// Throws "[name] device … is not available" where there is none.
HB_API DeviceBackend& device_backend(const char* name, const Device& device);

/// `device` with a number: the current one where it has none. The CPU has no number. Throws for a device that there is
/// not.
HB_API Device indexed_device(const char* name, const Device& device);

/// Where this thread makes tensors whose options name no device; the CPU unless set. As Python's
/// torch.set_default_device.
HB_API void set_default_device(const Device& device);

/// Copies bytes between any two places.
HB_API void copy_memory(void* to, const Device& to_device, const void* from, const Device& from_device, size_t bytes,
                        bool non_blocking = false);

}  // namespace hb
