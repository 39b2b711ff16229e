#pragma once
// Answers whether gradients are still scaled.

#include <halfbridge/tensor.h>

namespace hb::amp {

/// Warns, once in the life of the program, if a GradScaler has scaled a loss and these gradients (or those of these
/// parameters) were not unscaled since. `function` is what is about to work on them.
void warn_if_scaled(TensorList tensors, const char* function);

}  // namespace hb::amp
