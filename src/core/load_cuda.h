#pragma once
// CUDA's back end is a library of its own, libhalfbridge_cuda.so, which is opened when a program first asks for CUDA.

#include <string>

#include "core/device_backend.h"

namespace hb {

/// The back end, opened if it is not; null where there is no CUDA device.
HB_API DeviceBackend* open_cuda();
/// Whether it was opened and has a device.
HB_API bool cuda_is_open();
/// Why there is none, in a sentence; empty where there is one.
HB_API const std::string& cuda_absence();

/// The seed of the last manual_seed, with which generators of devices begin that are made later.
HB_API uint64_t seed_for_devices();

}  // namespace hb
