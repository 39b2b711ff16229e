#include <halfbridge/bridge/infer_size.h>

#include "core/geometry.h"

namespace hb::bridge {
inline namespace api {

std::vector<int64_t> infer_size(IntArrayRef shape, int64_t numel) {
  const auto sizes = geometry::infer_size("infer_size", shape, numel);
  return {sizes.begin(), sizes.end()};
}
SmallVector<int64_t, 5> infer_size_dv(IntArrayRef shape, int64_t numel) {
  return SmallVector<int64_t, 5>(infer_size(shape, numel));
}

}  // namespace api
}  // namespace hb::bridge
