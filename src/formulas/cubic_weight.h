#pragma once

#include "formulas/host_device.h"

namespace hb {

/// The weight of an element that stands up to 1 (`near`) or 1 to 2 elements away from where a value is wanted: cubic
/// convolution (Keys, 1981). T: a number or a Tensor of distances; C: what its constants are.
template <class C, class T>
HB_HD T cubic_weight(const T& distance, bool near, C a = C(-0.75)) {
  const T& x = distance;
  return near ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

}  // namespace hb
