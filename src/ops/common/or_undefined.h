#pragma once

#include "core/missing.h"

namespace hb {

/// The tensor, or an undefined one where there is none: the engine's functions ask defined().
inline const Tensor& or_undefined(const std::optional<Tensor>& tensor) {
  return tensor && tensor->defined() ? *tensor : detail::absent;
}

}  // namespace hb
