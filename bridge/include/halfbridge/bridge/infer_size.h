#pragma once
// <ATen/InferSize.h>: the sizes that a view with one -1 has.

#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/bridge/small_vector.h>
#include <halfbridge/macros.h>

namespace hb::bridge {
inline namespace api {

/// `shape`, its -1 replaced so that there are `numel` elements; an error where that cannot be.
HB_API std::vector<int64_t> infer_size(IntArrayRef shape, int64_t numel);
HB_API SmallVector<int64_t, 5> infer_size_dv(IntArrayRef shape, int64_t numel);

}  // namespace api
}  // namespace hb::bridge
