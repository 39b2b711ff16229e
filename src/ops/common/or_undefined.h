#pragma once

#include <halfbridge/tensor.h>

namespace hb {

/// The tensor, or an undefined one where there is none: the engine's functions ask defined().
inline const Tensor& or_undefined(const std::optional<Tensor>& tensor) {
  static const Tensor none;
  return tensor ? *tensor : none;
}

}  // namespace hb
