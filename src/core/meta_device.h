#pragma once

#include "core/device_backend.h"

namespace hb {

/// The back end of `meta`: tensors that have shape, dtype and strides but no memory. Functions say of them what they
/// would give (kernels do nothing there, backend/kernel.h); what needs values is an error.
DeviceBackend* meta_device();

}  // namespace hb
