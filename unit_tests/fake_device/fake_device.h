#pragma once
// A device without hardware: its memory is ordinary, but the host may touch it only while one of its kernels runs or a
// copy is made, and its kernels are the CPU's. What reads or writes a tensor's memory on the host, where it should ask
// a kernel or make a copy, faults.

#include <cstdint>

namespace fake_device {

/// Makes the device type PrivateUse1 known, with two devices.
void install();

/// What the host asked of it since the last reset.
struct Counts {
  uint64_t kernels, copies_to_host, copies_from_host, waits;
  /// How often the host had to wait for the device.
  uint64_t stalls() const { return copies_to_host + waits; }
};
Counts counts();
void reset_counts();
/// The kernel that ran last.
const char* last_kernel();
/// Asks for a kernel that it does not have.
void call_missing_kernel();
/// Whether an address is in its memory.
bool owns(const void* address);

}  // namespace fake_device
