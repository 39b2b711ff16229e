#pragma once

namespace hb::ops {

/// Throws where a tensor is undefined: for functions that first ask for what undefined ones have an answer to, their
/// sizes or their dtype.
template <class... Tensors>
void check_defined(const Tensors&... tensors) {
  ((void)tensors.impl(), ...);
}

}  // namespace hb::ops
