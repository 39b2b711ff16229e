#pragma once

#include <halfbridge/dtype.h>

#include "backend/kernel.h"

namespace hb {

/// Windows along one dimension.
struct Windows {
  int64_t kernel, step, padding, stride, out;
};
/// Planes (height, width) and their windows' elements (h.kernel, w.kernel, h.out, w.out), the planes one after another.
struct Fold {
  int64_t planes = 0, height = 0, width = 0;
  Windows h, w;
};
HB_NO_OPERANDS(Fold)

/// Each element of an image is the sum of the windows' elements that were it.
HB_API inline Kernel<void(ScalarType dtype, const Fold& f, void* image, const void* columns)> fold_kernel{"col2im"};

}  // namespace hb
