#pragma once
// The windows of poolings: arguments, their checks and sizes.

#include <memory>

#include <halfbridge/tensor.h>

#include "backend/pool.h"

namespace hb::ops {

using Windows = std::shared_ptr<const PoolWindows>;

struct PoolArgs {
  IntArrayRef kernel, stride, padding, dilation;
  bool ceil_mode, count_include_pad = true;
};

/// Throws unless x has `dims` dimensions besides its channels (and a batch), none of them empty: from `first_full` on,
/// or where that is not given all but the batch.
void check_pool_input(const char* name, const Tensor& x, int dims, std::optional<int64_t> first_full = {});
/// For a batched x; throws [name] for arguments that do not fit.
Windows plain_windows(const char* name, const Tensor& x, int dims, const PoolArgs& a);
Windows adaptive_windows(const char* name, const Tensor& x, int dims, IntArrayRef output);
/// Of the result.
DimVector output_sizes(const Tensor& x, const PoolWindows& w);

}  // namespace hb::ops
