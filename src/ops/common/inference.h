#pragma once

#include <halfbridge/tensor.h>

namespace hb {

/// Before an inference tensor changes: throws outside of inference mode.
void check_inference(const char* name, const Tensor& self);

}  // namespace hb
