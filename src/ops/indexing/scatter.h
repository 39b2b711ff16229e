#pragma once
// What scatters share.

#include <halfbridge/tensor.h>

#include "backend/indexing.h"

namespace hb::ops {

/// Throws [name] where the index reaches beyond `self` but along dimension d, or beyond `src` at all.
void check_shapes(const char* name, const Tensor& self, int64_t d, const Tensor& index, const Tensor* src);
/// As int64; throws [name] for other than int32 and int64.
Tensor element_index(const char* name, const Tensor& index);
/// Throws [name] unless the dtypes are the same.
void check_same(const char* name, const Tensor& self, const Tensor& src);
/// A copy of self with values put in, without history.
Tensor put_elements(const char* name, const Tensor& self, int64_t d, const Tensor& index, const Tensor& src, PutOp op);

}  // namespace hb::ops
